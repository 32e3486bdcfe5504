using System.Net;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.WebConsole.Tests.Support;

namespace Corfu.WebConsole.Tests;

/// <summary>Who may see the pages, and how the server starts and ends; no browser is needed.</summary>
public sealed class AccessTests(AccessTests.SmallCluster cluster)
    : IClassFixture<AccessTests.SmallCluster>, IAsyncLifetime
{
    private readonly string _connection = cluster.ConnectionString;
    private ConsoleServer _server = null!;
    private Uri _address = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await ConsoleFixture.StartServerAsync(_connection);
        _address = new Uri(_server.Address);
    }

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Token_works_once_and_becomes_a_cookie()
    {
        using var stranger = NewClient();
        Assert.Equal(HttpStatusCode.Forbidden, (await stranger.GetAsync("/")).StatusCode);
        var first = await stranger.GetAsync(_address);
        var cookie = Assert.Single(first.Headers.GetValues("Set-Cookie"));
        Assert.Contains("httponly", cookie, StringComparison.OrdinalIgnoreCase);
        Assert.Contains("samesite=strict", cookie, StringComparison.OrdinalIgnoreCase);
        var page = await stranger.GetAsync("/");
        Assert.Equal(HttpStatusCode.OK, page.StatusCode);
        Assert.StartsWith("default-src 'self'", Assert.Single(page.Headers.GetValues("Content-Security-Policy")));

        using var other = NewClient();
        Assert.Equal(HttpStatusCode.Forbidden, (await other.GetAsync(_address)).StatusCode);
        Assert.Equal(HttpStatusCode.Forbidden, (await other.GetAsync("/events/overview")).StatusCode);
        Assert.Equal(HttpStatusCode.Forbidden, (await other.GetAsync("/assets/console.js")).StatusCode);
    }

    [Fact]
    public async Task Wrong_token_does_not_use_up_the_right_one()
    {
        using var browser = NewClient();
        Assert.Equal(HttpStatusCode.Forbidden, (await browser.GetAsync("/?token=0")).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await browser.GetAsync(_address)).StatusCode);
    }

    [Theory]
    [InlineData("attacker.example")]
    [InlineData("127.0.0.1:1")]
    [InlineData("127.0.0.1.attacker.example")]
    public async Task Host_of_another_name_is_refused_with_a_cookie_too(string host)
    {
        using var browser = NewClient();
        await browser.GetAsync(_address);
        using var request = new HttpRequestMessage(HttpMethod.Get, "/");
        request.Headers.Host = host;
        Assert.Equal(HttpStatusCode.MisdirectedRequest, (await browser.SendAsync(request)).StatusCode);
    }

    [Fact]
    public async Task Listener_at_another_loopback_address_answers_by_that_address()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs several loopback addresses");
        await using var server = await ConsoleServer.StartAsync(
            new IPEndPoint(IPAddress.Parse("127.0.0.2"), 0), new ConsoleOptions { Connection = _connection });
        using var browser = new HttpClient();
        Assert.Equal(HttpStatusCode.OK, (await browser.GetAsync(server.Address)).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await browser.GetAsync(new Uri(new Uri(server.Address), "/"))).StatusCode);
    }

    [Theory]
    [InlineData("/nothing")]
    [InlineData("/events/nothing")]
    [InlineData("/assets/nothing")]
    public async Task Page_that_does_not_exist_is_not_found(string path)
    {
        using var browser = NewClient();
        await browser.GetAsync(_address);
        Assert.Equal(HttpStatusCode.NotFound, (await browser.GetAsync(path)).StatusCode);
    }

    [Fact]
    public async Task Pages_are_read_only()
    {
        using var browser = NewClient();
        await browser.GetAsync(_address);
        foreach (var path in (string[])["/", "/objects", "/events/overview"])
        {
            var answer = await browser.PostAsync(path, new StringContent(""));
            Assert.Equal(HttpStatusCode.MethodNotAllowed, answer.StatusCode);
        }
    }

    [Fact]
    public async Task Console_listens_on_this_machine_only()
    {
        var fault = await Assert.ThrowsAsync<ConsoleStartException>(() => ConsoleServer.StartAsync(
            new IPEndPoint(IPAddress.Any, 0), new ConsoleOptions { Connection = _connection }));
        Assert.Contains("this machine only", fault.Message);
    }

    [Fact]
    public async Task Port_in_use_is_said()
    {
        var fault = await Assert.ThrowsAsync<ConsoleStartException>(() => ConsoleServer.StartAsync(
            new IPEndPoint(IPAddress.Loopback, _address.Port),
            new ConsoleOptions { Connection = _connection }));
        Assert.Contains("occupied", fault.Message);
    }

    [Fact]
    public async Task Console_without_a_cluster_names_each_endpoint()
    {
        var unused = TestPorts.Address();
        var fault = await Assert.ThrowsAsync<ClusterNotFoundException>(() => ConsoleServer.StartAsync(
            new IPEndPoint(IPAddress.Loopback, 0), new ConsoleOptions { Connection = $"corfu://{unused}" }));
        Assert.Contains(unused, fault.Message);
    }

    private HttpClient NewClient() => new(new HttpClientHandler { CookieContainer = new CookieContainer() })
    {
        BaseAddress = new Uri(_address, "/"),
    };

    public sealed class SmallCluster : IAsyncLifetime
    {
        private EmbeddedCluster? _cluster;

        public string ConnectionString => _cluster!.ConnectionString;

        public async ValueTask InitializeAsync() => _cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });

        public ValueTask DisposeAsync() => _cluster?.DisposeAsync() ?? ValueTask.CompletedTask;
    }
}
