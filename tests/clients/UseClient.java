import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import okhttp3.Request;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AlibiApi;
import org.openapitools.client.api.ModelsApi;
import org.openapitools.client.api.OperationsApi;
import org.openapitools.client.api.RopeApi;
import org.openapitools.client.api.SinusoidalApi;
import org.openapitools.client.api.TablesByPostApi;
import org.openapitools.client.api.VerifyApi;
import org.openapitools.client.model.RopeRotateBody;
import org.openapitools.client.model.RopeScoresBody;
import org.openapitools.client.model.RopeTableBody;
import org.openapitools.client.model.SinusoidalBody;
import org.openapitools.client.model.VerifyBody;

/** Ten operations through the client that openapi-generator makes for Java: UseClient ADDRESS */
public class UseClient {
    static void equal(Object got, String want) {
        if (!want.equals(String.valueOf(got))) {
            throw new AssertionError(got + ", not " + want);
        }
    }

    /** Lists and maps begin empty, and would be sent so: those that nobody filled are left out. */
    static <T> T given(T body) throws Exception {
        for (Field field : body.getClass().getDeclaredFields()) {
            field.setAccessible(true);
            if (List.of().equals(field.get(body)) || Map.of().equals(field.get(body))) {
                field.set(body, null);
            }
        }
        return body;
    }

    static void tables(ApiClient client) throws Exception {
        var tables = new TablesByPostApi(client);
        var table = tables.ropeTablePost(given(new RopeTableBody().headDim(8L).positions("0:2")), null);
        equal(table.getCos().getShape(), "[2, 4]");
        var one = new SinusoidalApi(client).sinusoidal(4L, null, null, null, null, null, null, null, null, "0:3", null,
                null, null, null, null, null, null, null, null, null, null);
        equal(one.getShape(), "[3, 4]");
        var same = tables.sinusoidalPost(given(new SinusoidalBody().dModel(4L).positions("0:3")), null);
        equal(same.getData(), one.getData().toString());
        var slopes = new AlibiApi(client).alibiSlopes(null, null, 8L, null, null, null, null, null, null, null, null,
                null, null, null, null, null);
        equal(slopes.getShape(), "[8]");
    }

    static void transforms(ApiClient client) throws Exception {
        List<Object> vectors = List.of(List.of(1, 0));
        var rope = new RopeApi(client);
        var turn = given(new RopeRotateBody().vectors(vectors).positions(List.of(0)));
        equal(rope.ropeRotate(turn, null).getData(), "[[1.0, 0.0]]");
        var scores = rope.ropeScores(given(new RopeScoresBody().q(vectors).k(vectors)), null);
        equal(scores.getData(), "[[1.0]]");
    }

    static void models(ApiClient client) throws Exception {
        Map<String, Object> config = Map.of("model_type", "llama", "hidden_size", 2048, "num_attention_heads", 32);
        equal(new ModelsApi(client).resolveModel(config, null).getEncoding(), "rope");
    }

    static void checks(ApiClient client) throws Exception {
        var claim = new VerifyBody().encoding("sinusoidal").parameters(Map.of("d_model", 2, "positions", "0:1"))
                .table(List.of(List.of(0, 1)));
        equal(new VerifyApi(client).verify(given(claim), null, null, null, null, null).getMatches(), "true");
    }

    static void refusals(ApiClient client) throws Exception {
        try {
            new TablesByPostApi(client).ropeTablePost(given(new RopeTableBody().headDim(8L).rotaryDim(7L)), null);
        } catch (ApiException refused) {
            equal(refused.getCode(), "422");
            return;
        }
        throw new AssertionError("not refused");
    }

    /**
     * A generated method reads every 2xx as JSON, the first media type of the answer. The client's HTTP client gets
     * every other format.
     */
    static void bytes(ApiClient client) throws Exception {
        var address = client.getBasePath() + "/v1/sinusoidal?d_model=4&positions=0:2&format=raw";
        try (var answer = client.getHttpClient().newCall(new Request.Builder().url(address).build()).execute()) {
            equal(answer.body().bytes().length, "32");
        }
    }

    public static void main(String[] arguments) throws Exception {
        var client = new ApiClient();
        client.setBasePath(arguments[0]);
        tables(client);
        transforms(client);
        models(client);
        checks(client);
        refusals(client);
        bytes(client);
        equal(new OperationsApi(client).version().getVersion().isEmpty(), "false");
    }
}
