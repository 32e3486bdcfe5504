using System.Net;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Operations.Tests;

/// <summary>A node's HTTP endpoint.</summary>
public sealed partial class EndpointTests
{
    [Fact]
    public async Task Healthy_node_says_so_on_each_page()
    {
        await using var node = await NodeUnderTest.StartAsync();
        await using (var client = await CorfuClient.ConnectAsync($"corfu://{node.Listen}"))
            (await client.AppendAsync("x"u8.ToArray(), [])).Require();

        Assert.Equal(HttpStatusCode.OK, (await node.Client.GetAsync("/health/live")).StatusCode);
        Assert.Equal("ready", (await ReadAsync(node, "/health/ready")).GetProperty("status").GetString());
        JsonElement cluster;
        do cluster = await ReadAsync(node, "/health/cluster");
        while (cluster.GetProperty("status").GetString() is "unknown" or "down");
        Assert.Equal("ok", cluster.GetProperty("status").GetString());
        Assert.Equal("OK: appends succeed", cluster.GetProperty("verdict").GetString());
        Assert.True(cluster.GetProperty("epoch").GetInt64() > 0);
        Assert.True(cluster.GetProperty("age_seconds").GetDouble() >= 0);

        var page = await node.Client.GetAsync("/");
        var html = await page.Content.ReadAsStringAsync();
        Assert.Contains("OK: appends succeed", html, StringComparison.Ordinal);
        Assert.Contains(node.Listen, html, StringComparison.Ordinal);
        Assert.DoesNotContain("<script", html, StringComparison.Ordinal);
        Assert.Contains("default-src 'none'", page.Headers.GetValues("Content-Security-Policy").Single(),
            StringComparison.Ordinal);
        Assert.Contains("--paper", await node.Client.GetStringAsync("/node.css"), StringComparison.Ordinal);
        if (Environment.GetEnvironmentVariable("CORFU_KEEP_PAGE") is { Length: > 0 } keep)
        {
            await File.WriteAllTextAsync(Path.Combine(keep, "node.html"), html);
            await File.WriteAllTextAsync(Path.Combine(keep, "node.css"), await node.Client.GetStringAsync("/node.css"));
        }
    }

    [Fact]
    public async Task Figures_have_the_names_of_the_page_and_pass_the_check_of_Prometheus()
    {
        await using var node = await NodeUnderTest.StartAsync();
        await using (var client = await CorfuClient.ConnectAsync($"corfu://{node.Listen}"))
            (await client.AppendAsync("x"u8.ToArray(), [])).Require();
        string figures;
        do figures = await node.Client.GetStringAsync("/metrics");
        while (!figures.Contains("corfu_hosting_cluster_verdict", StringComparison.Ordinal));

        var names = Samples().Matches(figures).Select(match => match.Groups[1].Value).Distinct().ToList();
        Assert.Contains("corfu_server_request_duration_seconds_bucket", names);
        Assert.Contains("corfu_unit_disk_free_bytes", names);
        Assert.Contains("corfu_sequencer_tail", names);
        Assert.Empty(names.Except(PublishedInstruments.Series));
        Assert.Contains("le=\"5E-05\"", figures, StringComparison.OrdinalIgnoreCase);
        // The runtime's own names end with a word that Prometheus keeps for histograms.
        var own = figures.Split('\n').Where(line => !line.Contains("dotnet_", StringComparison.Ordinal));
        await PromTool.RunAsync(string.Join('\n', own), "check", "metrics");
    }

    [Fact]
    public async Task Node_without_open_roles_lives_and_is_not_ready()
    {
        var listen = TestPorts.Address();
        var options = new NodeOptions { Name = "n", Cluster = Guid.NewGuid(), Http = new NodeHttpOptions(listen) };
        await using var running = await new NodeOperations().StartAsync(
            new NodeSurroundings(options, () => null, NullLoggerFactory.Instance, TimeProvider.System), default);
        using var client = new HttpClient { BaseAddress = new Uri($"http://{listen}") };
        Assert.Equal(HttpStatusCode.OK, (await client.GetAsync("/health/live")).StatusCode);
        var ready = await client.GetAsync("/health/ready");
        Assert.Equal(HttpStatusCode.ServiceUnavailable, ready.StatusCode);
        Assert.Contains("not open yet", await ready.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, (await client.GetAsync("/health/cluster")).StatusCode);
        Assert.Contains("has not looked", await client.GetStringAsync("/"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Node_is_not_ready_while_a_front_end_does_not_serve()
    {
        var frontEnd = new StubFrontEnd { Fault = "the log is away" };
        await using var node = await NodeUnderTest.StartAsync(static config => config["frontEnds"] =
            new JsonArray(new JsonObject { ["kind"] = "stub", ["listen"] = "127.0.0.1:1" }), null, frontEnd);
        var ready = await node.Client.GetAsync("/health/ready");
        Assert.Equal(HttpStatusCode.ServiceUnavailable, ready.StatusCode);
        Assert.Contains("The front end stub at 127.0.0.1:1 does not serve: the log is away",
            await ready.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        Assert.Equal(HttpStatusCode.OK, (await node.Client.GetAsync("/health/live")).StatusCode);
        frontEnd.Fault = null;
        Assert.Equal(HttpStatusCode.OK, (await node.Client.GetAsync("/health/ready")).StatusCode);
    }

    [Fact]
    public async Task Page_under_another_name_than_the_hosts_is_refused()
    {
        await using var node = await NodeUnderTest.StartAsync();
        using var request = new HttpRequestMessage(HttpMethod.Get, "/");
        request.Headers.Host = "elsewhere.example";
        Assert.Equal(HttpStatusCode.MisdirectedRequest, (await node.Client.SendAsync(request)).StatusCode);
    }

    [Fact]
    public async Task Viewer_of_the_console_has_one_line_in_the_audit_file()
    {
        await using var node = await NodeUnderTest.StartAsync(
            static config => config["http"]!["console"] = true, new OnePage());
        await node.Client.GetStringAsync("/health/live");
        for (var i = 0; i < 3; i++) Assert.Equal("pages", await node.Client.GetStringAsync("/console"));
        AuditEntry[] lines = [];
        while (lines.Length == 0)
        {
            await Task.Delay(20, TestContext.Current.CancellationToken);
            lines = [.. AuditFiles.Read(node.File(AuditFiles.CurrentName)).Where(line => line.Event == "Console")];
        }

        Assert.Contains("127.0.0.1", Assert.Single(lines).Who!.Name, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Certificate_opens_pages_that_are_not_anonymous()
    {
        var folder = Directory.CreateTempSubdirectory("corfu-http-");
        using var tls = IssueIn(folder);
        var listen = TestPorts.Address();
        await using (await StartAsync(tls, listen))
        {
            Assert.Equal(HttpStatusCode.OK, await AskAsync(null, "/health/live"));
            Assert.Equal(HttpStatusCode.Forbidden, await AskAsync(null, "/metrics"));
            Assert.Equal(HttpStatusCode.Forbidden, await AskAsync(null, "/"));
            Assert.Equal(HttpStatusCode.Forbidden, await AskAsync("caller", "/metrics"));
            Assert.Equal(HttpStatusCode.OK, await AskAsync("admin", "/metrics"));
            Assert.Equal(HttpStatusCode.OK, await AskAsync("admin", "/"));
        }

        folder.Delete(recursive: true);

        async Task<HttpStatusCode> AskAsync(string? who, string page)
        {
            using var client = ClientOf(folder, who, tls);
            return (await client.GetAsync($"https://{listen}{page}")).StatusCode;
        }
    }

    [Fact]
    public async Task Reload_changes_the_anonymous_pages()
    {
        var folder = Directory.CreateTempSubdirectory("corfu-http-");
        using var tls = IssueIn(folder);
        var listen = TestPorts.Address();
        await using (var running = await StartAsync(tls, listen))
        {
            var reloadable = Assert.IsAssignableFrom<IReloadable>(running);
            using var client = ClientOf(folder, null, tls);
            Assert.Equal(HttpStatusCode.Forbidden, (await client.GetAsync($"https://{listen}/metrics")).StatusCode);
            var now = new NodeOptions
            {
                Http = new NodeHttpOptions(listen) { Anonymous = [NodeHttpOptions.Metrics] },
            };
            Assert.Equal("http.anonymous", Assert.Single(reloadable.Reload(now)));
            Assert.Empty(reloadable.Reload(now));
            Assert.Equal(HttpStatusCode.OK, (await client.GetAsync($"https://{listen}/metrics")).StatusCode);
            Assert.Equal(HttpStatusCode.Forbidden, (await client.GetAsync($"https://{listen}/health/live")).StatusCode);
        }

        folder.Delete(recursive: true);
    }

    [Fact]
    public async Task Open_connection_of_a_denied_certificate_ends()
    {
        var folder = Directory.CreateTempSubdirectory("corfu-http-");
        using var tls = IssueIn(folder);
        var listen = TestPorts.Address();
        await using (await StartAsync(tls, listen))
        {
            using var client = ClientOf(folder, "admin", tls);
            Assert.Equal(HttpStatusCode.OK, (await client.GetAsync($"https://{listen}/")).StatusCode);
            tls.Deny(new AllDenied());
            await Assert.ThrowsAsync<HttpRequestException>(() => client.GetAsync($"https://{listen}/"));
        }

        folder.Delete(recursive: true);
    }

    [Theory]
    [InlineData("""{ "listen": "10.1.2.3:4080" }""", "Http: 10.1.2.3 is not a loopback")]
    [InlineData("""{ "listen": "nowhere" }""", "Http: 'nowhere' is no address:port")]
    [InlineData("""{ "listen": "127.0.0.1:1", "anonymous": ["all"] }""", "Http: 'all' cannot be served anonymously")]
    public async Task Fault_of_the_configuration_is_told_before_the_node_starts(string http, string message)
    {
        var fault = await Assert.ThrowsAsync<NodeStartException>(() => NodeUnderTest.StartAsync(
            config => config["http"] = System.Text.Json.Nodes.JsonNode.Parse(http)));
        Assert.Contains(message, fault.Message, StringComparison.Ordinal);
    }

    // A node, an administrator and a caller of one cluster.
    private static ClusterTls IssueIn(DirectoryInfo folder)
    {
        using var authority = CertificateAuthority.Create(
            Path.Combine(folder.FullName, "ca"), new ClusterId(Guid.NewGuid()));
        var node = Path.Combine(folder.FullName, "node");
        authority.IssueTo(node, new CertificateOrder(AccessRole.Node, "n") { Hosts = ["127.0.0.1"] });
        authority.IssueTo(Path.Combine(folder.FullName, "admin"), new CertificateOrder(AccessRole.Admin, "ops"));
        authority.IssueTo(Path.Combine(folder.FullName, "caller"), new CertificateOrder(AccessRole.Caller, "app"));
        return ClusterTls.Open(new TlsOptions { Folder = node })!;
    }

    private static Task<IAsyncDisposable?> StartAsync(ClusterTls tls, string listen)
    {
        var options = new NodeOptions
        {
            Name = "n",
            Cluster = tls.Identity.Cluster.Value,
            Http = new NodeHttpOptions(listen),
            OpenTls = tls,
        };
        return new NodeOperations().StartAsync(
            new NodeSurroundings(options, () => null, NullLoggerFactory.Instance, TimeProvider.System), default);
    }

    /// <param name="who">The folder of its certificate; null: without one.</param>
    private static HttpClient ClientOf(DirectoryInfo folder, string? who, ClusterTls tls)
    {
        var handler = new HttpClientHandler();
        handler.ServerCertificateCustomValidationCallback = (_, certificate, _, _) =>
            certificate!.Thumbprint == tls.Source.Current.Certificate.Thumbprint;
        if (who is not null)
            handler.ClientCertificates.Add(
                X509Certificate2.CreateFromPemFile(Path.Combine(folder.FullName, who, "identity.pem")));
        return new HttpClient(handler);
    }

    private static async Task<JsonElement> ReadAsync(NodeUnderTest node, string page)
    {
        using var document = JsonDocument.Parse(
            await (await node.Client.GetAsync(page)).Content.ReadAsStringAsync());
        return document.RootElement.Clone();
    }

    [GeneratedRegex(@"^((?:corfu|tango)_\w+)[{ ]", RegexOptions.Multiline)]
    private static partial Regex Samples();

    private sealed class AllDenied : IDenyList
    {
        public event Action? Changed
        {
            add
            {
            }
            remove
            {
            }
        }

        public bool IsDenied(string serial, string issuerKey) => true;
    }

    private sealed class OnePage : INodePages
    {
        public string Path => "/console";

        public IAsyncDisposable? Map(IEndpointRouteBuilder endpoints, NodeSurroundings node)
        {
            endpoints.MapGet(Path, static () => "pages");
            return null;
        }
    }

    private sealed class StubFrontEnd : IFrontEnd, IFrontEndHealth, IAsyncDisposable
    {
        public string Kind => "stub";

        public string? Fault { get; set; }

        public Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken) =>
            Task.FromResult<IAsyncDisposable>(this);

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
