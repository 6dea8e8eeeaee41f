// use_client - ten operations through the client that openapi-generator makes for Go: use_client ADDRESS
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	posenc "github.com/GIT_USER_ID/GIT_REPO_ID"
)

var ctx = context.Background()

// equal ends the program unless the answer's value, printed, is the one that is wanted.
func equal(got interface{}, want string, err error) {
	if err != nil || fmt.Sprint(got) != want {
		log.Fatalf("%v, not %s (%v)", got, want, err)
	}
}

func tables(api *posenc.APIClient) {
	table, _, err := api.RopeAPI.RopeTable(ctx).HeadDim(8).Positions("0:2").Execute()
	equal(table.GetCos().Shape, "[2 4]", err)
	body := posenc.RopeTableBody{HeadDim: posenc.PtrInt64(8), Positions: "0:2"}
	same, _, err := api.TablesByPostAPI.RopeTablePost(ctx).RopeTableBody(body).Execute()
	equal(same.GetCos().Data, fmt.Sprint(table.GetCos().Data), err)
	one, _, err := api.SinusoidalAPI.Sinusoidal(ctx).DModel(4).Positions("0:3").Execute()
	equal(one.GetShape(), "[3 4]", err)
	slopes, _, err := api.AlibiAPI.AlibiSlopes(ctx).NumHeads(8).Execute()
	equal(slopes.GetShape(), "[8]", err)
}

func transforms(api *posenc.APIClient) {
	vectors := []interface{}{[]int{1, 0}}
	turn := posenc.RopeRotateBody{Vectors: vectors, Positions: []int{0}}
	rotated, _, err := api.RopeAPI.RopeRotate(ctx).RopeRotateBody(turn).Execute()
	equal(rotated.GetData(), "[[1 0]]", err)
	pair := posenc.RopeScoresBody{Q: vectors, K: vectors}
	scores, _, err := api.RopeAPI.RopeScores(ctx).RopeScoresBody(pair).Execute()
	equal(scores.GetData(), "[[1]]", err)
}

func resolves(api *posenc.APIClient) {
	config := map[string]*interface{}{}
	for key, value := range map[string]interface{}{"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32} {
		member := value
		config[key] = &member
	}
	resolved, _, err := api.ModelsAPI.ResolveModel(ctx).RequestBody(config).Execute()
	equal(resolved.GetEncoding(), "rope", err)
}

func checks(api *posenc.APIClient) {
	parameters := map[string]interface{}{"d_model": 2, "positions": "0:1"}
	claim := posenc.VerifyBody{Encoding: posenc.PtrString("sinusoidal"), Parameters: parameters, Table: [][]int{{0, 1}}}
	report, _, err := api.VerifyAPI.Verify(ctx).VerifyBody(claim).Execute()
	equal(report.GetMatches(), "true", err)
}

func refusals(api *posenc.APIClient) {
	_, answer, err := api.RopeAPI.RopeTable(ctx).HeadDim(8).RotaryDim(7).Execute()
	problem := err.(*posenc.GenericOpenAPIError).Model().(posenc.Problem)
	equal(answer.StatusCode, "422", nil)
	equal(problem.Code, "invalid-parameter", nil)
}

// The generated methods know the answer's JSON alone; of every other format they leave the bytes in the answer.
func octets(api *posenc.APIClient) {
	_, answer, _ := api.SinusoidalAPI.Sinusoidal(ctx).DModel(4).Positions("0:2").Format(posenc.FORMAT_RAW).Execute()
	bytes, err := io.ReadAll(answer.Body)
	equal(len(bytes), "32", err)
}

func main() {
	configuration := posenc.NewConfiguration()
	configuration.Servers = posenc.ServerConfigurations{{URL: os.Args[1]}}
	api := posenc.NewAPIClient(configuration)
	tables(api)
	transforms(api)
	resolves(api)
	checks(api)
	refusals(api)
	octets(api)
	version, _, err := api.OperationsAPI.Version(ctx).Execute()
	equal(version.GetVersion() != "", "true", err)
}
