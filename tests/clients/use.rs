//! Ten operations through the client that openapi-generator makes for Rust: use_client ADDRESS
use openapi::apis::configuration::Configuration;
use openapi::apis::{alibi_api, models_api, operations_api, rope_api, sinusoidal_api, tables_by_post_api, verify_api, Error};
use openapi::models::{RopeRotateBody, RopeTableBody, VerifyBody};
use serde_json::{from_value, json, Value};

/// A request from its JSON, as its types read it.
fn request<T: serde::de::DeserializeOwned>(body: Value) -> T {
    from_value(body).unwrap()
}

async fn tables(server: &Configuration) {
    let wanted: RopeTableBody = request(json!({"head_dim": 8, "positions": "0:2"}));
    let table = tables_by_post_api::rope_table_post(server, wanted, None).await.unwrap();
    assert_eq!(table.cos.unwrap().shape, [2, 4]);
    let one = sinusoidal_api::sinusoidal(
        server, Some(4), None, None, None, None, None, None, None, None, Some("0:3"), None, None, None, None, None, None,
        None, None, None, None, None,
    );
    assert_eq!(one.await.unwrap().shape, [3, 4]);
    let slopes = alibi_api::alibi_slopes(
        server, None, None, Some(8), None, None, None, None, None, None, None, None, None, None, None, None, None,
    );
    assert_eq!(slopes.await.unwrap().shape, [8]);
}

async fn transforms(server: &Configuration) {
    let turn: RopeRotateBody = request(json!({"vectors": [[1, 0]], "positions": [0]}));
    let rotated = rope_api::rope_rotate(server, turn, None).await.unwrap();
    assert_eq!(serde_json::to_value(rotated).unwrap()["data"], json!([[1, 0]]));
    let scores = rope_api::rope_scores(server, request(json!({"q": [[1, 0]], "k": [[1, 0]]})), None).await.unwrap();
    assert_eq!(scores.data, Some(json!([[1]])));
}

async fn models(server: &Configuration) {
    let config = json!({"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32});
    let resolved = models_api::resolve_model(server, request(config), None).await.unwrap();
    assert_eq!(json!(resolved.encoding), "rope");
    assert!(!models_api::list_models(server, Some("phi")).await.unwrap().models.is_empty());
}

async fn checks(server: &Configuration) {
    let mut claim = VerifyBody::new();
    claim.encoding = Some("sinusoidal".to_string());
    claim.parameters = Some(request(json!({"d_model": 2, "positions": "0:1"})));
    claim.table = Some(Some(json!([[0, 1]])));
    assert!(verify_api::verify(server, claim, None, None, None, None, None).await.unwrap().matches);
}

async fn refusals(server: &Configuration) {
    let odd: RopeTableBody = request(json!({"head_dim": 8, "rotary_dim": 7}));
    match tables_by_post_api::rope_table_post(server, odd, None).await {
        Err(Error::ResponseError(refused)) => assert_eq!(refused.status.as_u16(), 422),
        other => panic!("not refused: {other:?}"),
    }
}

/// A generated function reads every 2xx as JSON, the first media type of the answer, and fails on any other
/// Content-Type; it also makes its request in one piece. The client's HTTP client gets every other format.
async fn bytes(server: &Configuration) {
    let address = format!("{}/v1/sinusoidal?d_model=4&positions=0:2&format=raw", server.base_path);
    assert_eq!(server.client.get(address).send().await.unwrap().bytes().await.unwrap().len(), 32);
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let base_path = std::env::args().nth(1).expect("the server's address");
    let server = Configuration { base_path, ..Configuration::new() };
    tables(&server).await;
    transforms(&server).await;
    models(&server).await;
    checks(&server).await;
    refusals(&server).await;
    bytes(&server).await;
    assert!(!operations_api::version(&server).await.unwrap().version.is_empty());
}
