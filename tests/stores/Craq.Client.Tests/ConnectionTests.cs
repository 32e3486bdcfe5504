namespace Craq.Client.Tests;

/// <summary>Connection strings, options, and the first nodes.</summary>
public sealed class ConnectionTests
{
    [Theory]
    [InlineData("craq://127.0.0.1:7101,127.0.0.1:7102")]
    [InlineData("craq://[::1]:7101?dc=east&insecure")]
    [InlineData("craqs://a:1,b:2?certs=/c d&dc=west")]
    public void Connection_string_comes_back_whole(string text) =>
        Assert.Equal(text, CraqConnectionString.Parse(text).ToString());

    [Theory]
    [InlineData(null, "starts with craq://")]
    [InlineData("corfu://a:1", "starts with craq://")]
    [InlineData("craq://a", "'a', is not host:port")]
    [InlineData("craq://a:0", "'a:0', is not host:port")]
    [InlineData("craq://a:1?certs=/x", "'certs=/x' means nothing")]
    [InlineData("craqs://a:1?insecure", "'insecure' means nothing")]
    [InlineData("craq://a:1?dc=", "'dc=' means nothing")]
    public void Faulty_connection_string_names_the_fault(string? text, string said)
    {
        Assert.False(CraqConnectionString.TryParse(text, out _, out var error));
        Assert.Contains(said, error);
    }

    [Fact]
    public async Task Plain_connection_to_another_machine_is_refused() =>
        await Assert.ThrowsAsync<CertificateException>(() => CraqClient.ConnectAsync("craq://192.0.2.1:7101"));

    [Fact]
    public void Options_out_of_range_are_named_together()
    {
        var error = Assert.Throws<ArgumentException>(() => new CraqClientOptions
        {
            MaxValue = 0,
            RetryDelay = TimeSpan.FromSeconds(2),
        }.Validate());
        Assert.Contains("MaxValue", error.Message);
        Assert.Contains("MaxRetryDelay", error.Message);
    }

    [Fact]
    public async Task Client_connects_by_any_endpoint_that_answers()
    {
        await using var setup = new Setup();
        await using var client = await CraqClient.ConnectAsync(
            CraqConnectionString.Parse("craq://127.0.0.1:7009,127.0.0.1:7002"), setup.Nodes, new JumpingTime(),
            new SeededEntropy(2));
        Assert.True((await client.Chain("orders").GetAsync("k")).IsFound);
    }

    [Fact]
    public async Task Endpoints_without_a_node_are_an_error_that_says_why_for_each()
    {
        var error = await Assert.ThrowsAsync<CraqNotFoundException>(() => CraqClient.ConnectAsync(
            CraqConnectionString.Parse("craq://127.0.0.1:7008,127.0.0.1:7009"), new FakeNodes(), new JumpingTime(),
            new SeededEntropy(2)));
        Assert.Contains("127.0.0.1:7008: 127.0.0.1:7008: silent.", error.Message);
        Assert.Contains("127.0.0.1:7009", error.Message);
    }

    /// <summary>All nodes that the client knows have been replaced; its endpoints still lead to a node.</summary>
    [Fact]
    public async Task Client_finds_nodes_by_the_endpoints_when_no_known_node_answers()
    {
        await using var setup = new Setup();
        await using var client = await CraqClient.ConnectAsync(
            CraqConnectionString.Parse("craq://127.0.0.1:7001,127.0.0.1:7004"), setup.Nodes, new JumpingTime(),
            new SeededEntropy(2));
        Assert.True((await client.Chain("orders").GetAsync("k")).IsFound);
        for (var node = 1; node <= 3; node++) setup.Nodes.On(node, _ => null);
        var view = FakeNodes.View(Setup.Orders, 6, (4, "east"));
        setup.Nodes.On(4, request => request switch
        {
            ChainsRequest => new ChainsResponse(Status.Ok, new Epoch(6)) { Views = [view] },
            ReadObjectsRequest read => Setup.Found(read),
            _ => null,
        });
        Assert.True((await client.Chain("orders").GetAsync("k")).IsFound);
    }
}
