import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AlibiApi;
import org.openapitools.client.api.ModelsApi;
import org.openapitools.client.api.OperationsApi;
import org.openapitools.client.api.RopeApi;
import org.openapitools.client.api.RopeApi.APIRopeTableRequest;
import org.openapitools.client.api.SinusoidalApi;
import org.openapitools.client.api.SinusoidalApi.APISinusoidalRequest;
import org.openapitools.client.api.TablesByPostApi;
import org.openapitools.client.api.VerifyApi;
import org.openapitools.client.model.RopeRotateRequest;
import org.openapitools.client.model.RopeScoresRequest;
import org.openapitools.client.model.RopeTableRequest;
import org.openapitools.client.model.VerifyRequest;

/** Ten operations through the client that openapi-generator makes for Java: UseClient ADDRESS */
public class UseClient {
    static void equal(Object got, String want) {
        if (!want.equals(String.valueOf(got))) {
            throw new AssertionError(got + ", not " + want);
        }
    }

    static void tables(ApiClient client) throws Exception {
        var asked = APIRopeTableRequest.newBuilder().headDim(8L).positions("0:2").build();
        var table = new RopeApi(client).ropeTable(asked);
        equal(table.getCos().getShape(), "[2, 4]");
        var same = new TablesByPostApi(client).ropeTablePost(new RopeTableRequest().headDim(8L).positions("0:2"), null);
        equal(same.getCos().getData(), table.getCos().getData().toString());
        var one = new SinusoidalApi(client).sinusoidal(APISinusoidalRequest.newBuilder().dModel(4L).positions("0:3").build());
        equal(one.getShape(), "[3, 4]");
        var slopes = new AlibiApi(client).alibiSlopes(AlibiApi.APIAlibiSlopesRequest.newBuilder().numHeads(8L).build());
        equal(slopes.getShape(), "[8]");
    }

    static void transforms(ApiClient client) throws Exception {
        List<Object> vectors = List.of(List.of(1, 0));
        var rope = new RopeApi(client);
        var rotated = rope.ropeRotate(new RopeRotateRequest().vectors(vectors).positions(List.of(0)), null);
        equal(rotated.getData(), "[[1, 0]]");
        equal(rope.ropeScores(new RopeScoresRequest().q(vectors).k(vectors), null).getData(), "[[1]]");
    }

    static void models(ApiClient client) throws Exception {
        Map<String, Object> config = Map.of("model_type", "llama", "hidden_size", 2048, "num_attention_heads", 32);
        equal(new ModelsApi(client).resolveModel(config, null).getEncoding(), "rope");
    }

    static void checks(ApiClient client) throws Exception {
        var claim = new VerifyRequest().encoding("sinusoidal").parameters(Map.of("d_model", 2, "positions", "0:1"))
                .table(List.of(List.of(0, 1)));
        equal(new VerifyApi(client).verify(claim, null, null, null, null, null).getMatches(), "true");
    }

    static void refusals(ApiClient client) throws Exception {
        try {
            new RopeApi(client).ropeTable(APIRopeTableRequest.newBuilder().headDim(8L).rotaryDim(7L).build());
        } catch (ApiException refused) {
            equal(refused.getCode(), "422");
            return;
        }
        throw new AssertionError("not refused");
    }

    /**
     * A generated method reads every 2xx as JSON, the first media type of the answer, and what makes its request is
     * private. The client's HTTP client gets every other format.
     */
    static void bytes(ApiClient client) throws Exception {
        var address = URI.create(client.getBaseUri() + "/v1/sinusoidal?d_model=4&positions=0:2&format=raw");
        var answer = client.getHttpClient().send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofByteArray());
        equal(answer.body().length, "32");
    }

    public static void main(String[] arguments) throws Exception {
        var client = new ApiClient();
        client.updateBaseUri(arguments[0]);
        tables(client);
        transforms(client);
        models(client);
        checks(client);
        refusals(client);
        bytes(client);
        equal(new OperationsApi(client).version().getVersion().isEmpty(), "false");
    }
}
