using System.IO.Pipelines;
using System.Net;
using System.Text;
using System.Text.Json;
using Corfu.Etcd.Gateway;

namespace Corfu.Etcd.Tests;

/// <summary>The calls as JSON over HTTP/1.1, at the port of gRPC.</summary>
public sealed class GatewayTests : IAsyncDisposable
{
    private readonly EtcdWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Theory]
    [InlineData("/v3")]
    [InlineData("/v3beta")]
    [InlineData("/v3alpha")]
    public async Task Call_has_etcds_names_numbers_as_text_and_bytes_as_base64(string prefix)
    {
        var client = await _world.StartAsync();
        var put = await PostAsync(client, $"{prefix}/kv/put", """{"key":"YQ==","value":"MQ==","prev_kv":true}""");
        Assert.Equal("2", put.GetProperty("header").GetProperty("revision").GetString());
        Assert.False(put.TryGetProperty("prev_kv", out _));
        // By gRPC at the same port.
        Assert.Equal("a=1", await client.GetAsync("a"));
        var range = await PostAsync(client, $"{prefix}/kv/range",
            """{"key":"YQ==","range_end":"Yg==","limit":"5","sort_order":"DESCEND","sort_target":"MOD"}""");
        Assert.Equal("1", range.GetProperty("count").GetString());
        Assert.Equal(
            """{"key":"YQ==","create_revision":"2","mod_revision":"2","version":"1","value":"MQ=="}""",
            Compact(range.GetProperty("kvs")[0]));
        var txn = await PostAsync(client, $"{prefix}/kv/txn", """
            {"compare":[{"key":"YQ==","target":"MOD","mod_revision":2}],
             "success":[{"request_delete_range":{"key":"YQ=="}}]}
            """);
        Assert.True(txn.GetProperty("succeeded").GetBoolean());
        Assert.Equal("""{"header":{"revision":"3"},"deleted":"1"}""",
            Compact(txn.GetProperty("responses")[0].GetProperty("response_delete_range")));
        Assert.Equal("7", (await PostAsync(client, $"{prefix}/lease/grant", """{"TTL":7,"ID":"9"}"""))
            .GetProperty("TTL").GetString());
    }

    [Fact]
    public async Task Failures_have_the_status_and_the_text_of_etcds_gateway()
    {
        var client = await _world.StartAsync(new EtcdLimits { MaxRequestBytes = 64 << 10 });
        foreach (var (path, body, status, text, code) in new[]
        {
            ("/v3/kv/range", "{}", 400, "etcdserver: key is not provided", 3),
            ("/v3/kv/range", "", 400, "etcdserver: key is not provided", 3),
            ("/v3/lease/revoke", """{"ID":"5"}""", 404, "etcdserver: requested lease not found", 5),
            ("/v3/kv/range", """{"key":"YQ==","revision":"9"}""", 400,
                "etcdserver: mvcc: required revision is a future revision", 11),
            ("/v3/auth/authenticate", """{"name":"root"}""", 412, "etcdserver: authentication is not enabled", 9),
            ("/v3/kv/put", $$"""{"key":"YQ==","value":"{{new string('A', 200 << 10)}}"}""", 400,
                "etcdserver: request is too large", 3),
        })
        {
            using var answer = await client.Http.PostAsync(path, new StringContent(body));
            var error = await ReadAsync(answer);
            Assert.Equal((status, text, text, code), ((int)answer.StatusCode, error.GetProperty("error").GetString(),
                error.GetProperty("message").GetString(), error.GetProperty("code").GetInt32()));
        }

        foreach (var body in (string[])["{", "[1]", """{"key":5}""", """{"key":"*"}""", "nonsense"])
        {
            using var answer = await client.Http.PostAsync("/v3/kv/range", new StringContent(body));
            Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        }

        using var unknown = await client.Http.PostAsync("/v3/kv/nothing", new StringContent("{}"));
        Assert.Equal(HttpStatusCode.NotFound, unknown.StatusCode);
    }

    [Fact]
    public async Task Watch_is_lines_of_results_that_go_on_behind_the_request()
    {
        var client = await _world.StartAsync();
        await client.PutAsync("a", "1");
        using var request = new HttpRequestMessage(HttpMethod.Post, "/v3/watch")
        {
            Content = new StringContent("""{"create_request":{"key":"YQ==","start_revision":"2","prev_kv":true}}"""),
        };
        using var answer = await client.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        using var lines = new StreamReader(await answer.Content.ReadAsStreamAsync());
        Assert.True((await NextAsync()).GetProperty("created").GetBoolean());
        Assert.Equal("MQ==", (await NextAsync()).GetProperty("events")[0].GetProperty("kv")
            .GetProperty("value").GetString());
        await client.Keys.DeleteRangeAsync(Delete("a"));
        var deletion = (await NextAsync()).GetProperty("events")[0];
        Assert.Equal(("DELETE", "MQ=="), (deletion.GetProperty("type").GetString(),
            deletion.GetProperty("prev_kv").GetProperty("value").GetString()));

        async Task<JsonElement> NextAsync() =>
            JsonDocument.Parse((await lines.ReadLineAsync())!).RootElement.GetProperty("result");
    }

    [Fact]
    public async Task Keep_alive_ends_with_the_last_request()
    {
        var client = await _world.StartAsync();
        await client.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = 5 });
        using var answer = await client.Http.PostAsync(
            "/v3/lease/keepalive", new StringContent("""{"ID":5} {"ID":6}"""));
        var lines = (await answer.Content.ReadAsStringAsync()).TrimEnd().Split('\n');
        Assert.Equal(["600", ""], lines.Select(static line =>
            JsonDocument.Parse(line).RootElement.GetProperty("result").TryGetProperty("TTL", out var seconds)
                ? seconds.GetString()
                : ""));
    }

    [Fact]
    public async Task Version_and_health_are_told()
    {
        var client = await _world.StartAsync();
        Assert.Equal("""{"etcdserver":"3.4.23","etcdcluster":"3.4.0"}""", await client.Http.GetStringAsync("/version"));
        Assert.Equal("""{"health":"true"}""", await client.Http.GetStringAsync("/health"));
    }

    [Fact]
    public async Task Values_of_a_body_are_read_however_the_bytes_are_cut()
    {
        const string body = """{"ID":"1"}  {"ID":"22","x":{"y":["}"]}}""" + "\n{\"ID\":3}\n";
        for (var cut = 1; cut < body.Length; cut++)
        {
            var pipe = new Pipe();
            var writing = WriteAsync(pipe.Writer, body[..cut], body[cut..]);
            var ids = new List<long>();
            while (await JsonBodies.ReadAsync<LeaseRevokeRequest>(pipe.Reader, 1 << 10, CancellationToken.None)
                is { } next)
                ids.Add(next.ID);
            await writing;
            Assert.Equal([1, 22, 3], ids);
        }
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("\"0123456789")]
    public async Task Refused_body_leaves_the_reader_to_the_server(string body)
    {
        var pipe = new Pipe();
        await pipe.Writer.WriteAsync(Encoding.UTF8.GetBytes(body));
        await Assert.ThrowsAsync<RpcException>(async () => await JsonBodies.ReadAsync<LeaseRevokeRequest>(
            pipe.Reader, 8, CancellationToken.None));
        await WriteAsync(pipe.Writer, "rest");
        Assert.Equal("rest", Encoding.UTF8.GetString((await pipe.Reader.ReadAsync()).Buffer));
    }

    private static async Task WriteAsync(PipeWriter writer, params string[] parts)
    {
        foreach (var part in parts) await writer.WriteAsync(Encoding.UTF8.GetBytes(part));
        await writer.CompleteAsync();
    }

    private static async Task<JsonElement> PostAsync(EtcdClient client, string path, string body)
    {
        using var answer = await client.Http.PostAsync(path, new StringContent(body));
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await ReadAsync(answer);
    }

    private static async Task<JsonElement> ReadAsync(HttpResponseMessage answer) =>
        JsonDocument.Parse(await answer.Content.ReadAsStringAsync()).RootElement;

    private static string Compact(JsonElement element) => JsonSerializer.Serialize(element);
}
