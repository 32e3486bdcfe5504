using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Builder;
using NamespaceSample.Http;

namespace NamespaceSample.Tests;

/// <summary>The API on a port of this machine.</summary>
public sealed class HttpTests : IAsyncLifetime
{
    private readonly Logs _logs = new();
    private readonly HttpClient _client = new();
    private WebApplication? _app;

    public async ValueTask InitializeAsync()
    {
        await _logs.HostAsync();
        _app = NamespaceServer.Create(await _logs.OpenAsync(), "http://127.0.0.1:0");
        await _app.StartAsync();
        _client.BaseAddress = new Uri(_app.Urls.First());
    }

    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        if (_app is not null) await _app.DisposeAsync();
        await _logs.DisposeAsync();
    }

    [Fact]
    public async Task Entries_are_made_read_moved_and_deleted()
    {
        Assert.Equal(HttpStatusCode.Created, await PutAsync("/api/entries/src", """{"kind":"Directory"}"""));
        Assert.Equal(HttpStatusCode.Created, await PutAsync("/api/entries/src/a", """{"kind":"File","size":5}"""));
        Assert.Equal(HttpStatusCode.NoContent, await PutAsync("/api/contents/src/a", """{"size":7}"""));
        Assert.Equal(
            HttpStatusCode.NoContent, await PutAsync("/api/attributes/src/a", """{"name":"owner","value":"me"}"""));
        using HttpResponseMessage renamed =
            await _client.PostAsJsonAsync("/api/renames", new { from = "/src", to = "/docs" });
        Assert.Equal(HttpStatusCode.NoContent, renamed.StatusCode);
        JsonNode file = (await _client.GetFromJsonAsync<JsonNode>("/api/entries/docs/a"))!;
        Assert.Equal(("/docs/a", "File", 7, 2, "me"), ((string)file["path"]!, (string)file["kind"]!,
            (int)file["size"]!, (int)file["revision"]!, (string)file["attributes"]!["owner"]!));
        JsonArray children = (await _client.GetFromJsonAsync<JsonArray>("/api/children/"))!;
        Assert.Equal("/docs", (string)Assert.Single(children)!["path"]!);
        JsonArray below = (await _client.GetFromJsonAsync<JsonArray>("/api/children/docs"))!;
        Assert.Equal("/docs/a", (string)Assert.Single(below)!["path"]!);
        using HttpResponseMessage deleted = await _client.DeleteAsync("/api/entries/docs?all=true");
        Assert.Equal(HttpStatusCode.NoContent, deleted.StatusCode);
        Assert.Empty((await _client.GetFromJsonAsync<JsonArray>("/api/children/"))!);
    }

    [Theory]
    [InlineData("GET", "/api/entries/none", "", 404, "NotFound")]
    [InlineData("GET", "/api/entries/a//b", "", 400, "BadPath")]
    [InlineData("PUT", "/api/entries/none/a", """{"kind":"File"}""", 409, "NoParent")]
    [InlineData("PUT", "/api/contents/none", """{"size":1}""", 404, "NotFound")]
    [InlineData("POST", "/api/renames", """{"from":"/none","to":"/a"}""", 404, "NotFound")]
    [InlineData("PUT", "/api/entries/a", """{"kind":"Link"}""", 400, null)]
    [InlineData("PUT", "/api/contents/a", """{"size":-1}""", 400, "BadSize")]
    [InlineData("GET", "/api/nothing", "", 404, null)]
    public async Task Refused_request_is_answered_with_problem_details(
        string method, string path, string body, int status, string? title)
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), path);
        if (body.Length > 0) request.Content = Json(body);
        using HttpResponseMessage response = await _client.SendAsync(request);
        Assert.Equal(status, (int)response.StatusCode);
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType?.MediaType);
        JsonNode problem = (await response.Content.ReadFromJsonAsync<JsonNode>())!;
        Assert.Equal(status, (int)problem["status"]!);
        if (title is not null) Assert.Equal(title, (string)problem["title"]!);
    }

    [Fact]
    public async Task Changes_come_as_events_that_can_be_resumed()
    {
        await PutAsync("/api/entries/src", """{"kind":"Directory"}""");
        await PutAsync("/api/entries/src/a", """{"kind":"File"}""");
        await PutAsync("/api/entries/docs", """{"kind":"Directory"}""");
        (string first, string id) = await NextEventAsync("0.-1_0.-1", "/src");
        Assert.Contains("\"/src\"", first);
        (string second, _) = await NextEventAsync(id, "/src");
        Assert.Contains("\"/src/a\"", second);
    }

    [Fact]
    public async Task The_api_is_described()
    {
        JsonNode document = (await _client.GetFromJsonAsync<JsonNode>(NamespaceServer.Document))!;
        Assert.Equal(
            ["Changes", "Create", "Delete", "List", "Rename", "SetAttribute", "Stat", "Write"],
            document["paths"]!.AsObject().SelectMany(path => path.Value!.AsObject())
                .Select(operation => (string)operation.Value!["operationId"]!).Order(StringComparer.Ordinal));
    }

    private static StringContent Json(string body) => new(body, System.Text.Encoding.UTF8, "application/json");

    private async Task<HttpStatusCode> PutAsync(string path, string body)
    {
        using HttpResponseMessage response = await _client.PutAsync(path, Json(body));
        return response.StatusCode;
    }

    private async Task<(string Data, string Id)> NextEventAsync(string after, string within)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, $"/api/changes?within={within}");
        request.Headers.Add("Last-Event-ID", after);
        using HttpResponseMessage response =
            await _client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal("text/event-stream", response.Content.Headers.ContentType?.MediaType);
        using var reader = new StreamReader(await response.Content.ReadAsStreamAsync());
        string data = "", id = "";
        while (await reader.ReadLineAsync() is { Length: > 0 } line)
        {
            if (line.StartsWith("data: ", StringComparison.Ordinal)) data = line["data: ".Length..];
            if (line.StartsWith("id: ", StringComparison.Ordinal)) id = line["id: ".Length..];
        }

        return (data, id);
    }
}
