using System.Net;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>A front end that no project of the product knows is configured, started and stopped like gRPC.</summary>
public sealed class FrontEndTests
{
    [Fact]
    public async Task Node_serves_a_front_end_that_the_program_brings()
    {
        using var folder = new TempFolder();
        var listen = TestPorts.Endpoint();
        var config = await NewNodeAsync(folder, new JsonObject
        {
            ["kind"] = "tail",
            ["listen"] = listen.ToString(),
            ["allow"] = new JsonArray("everything"),
        });
        var frontEnd = new TailFrontEnd();
        var output = new ReadyLine();
        using var stop = new CancellationTokenSource();
        var node = NodeRunner.RunAsync(config, output, NodeRoles.Log, [frontEnd], stop.Token);
        Assert.EndsWith($", tail at {listen}", await output.Line, StringComparison.Ordinal);
        Assert.Equal(["everything"], frontEnd.Allowed);
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(IPAddress.Loopback, listen.Port);
            using var reader = new StreamReader(client.GetStream());
            Assert.Equal("0", await reader.ReadLineAsync());
        }

        stop.Cancel();
        Assert.Equal(0, await node);
        Assert.True(frontEnd.IsDisposed);
    }

    [Fact]
    public async Task Front_end_that_the_program_does_not_have_is_named()
    {
        using var folder = new TempFolder();
        var config = await NewNodeAsync(
            folder, new JsonObject { ["kind"] = "gopher", ["listen"] = TestPorts.Address() });
        var fault = await Assert.ThrowsAsync<NodeStartException>(
            () => NodeRunner.RunAsync(config, TextWriter.Null, NodeRoles.Log, [new TailFrontEnd()], default));
        Assert.Contains("the front end 'gopher'", fault.Message, StringComparison.Ordinal);
        Assert.Contains("It serves: tail.", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Settings_of_a_front_end_without_any_are_refused()
    {
        using var folder = new TempFolder();
        var config = await NewNodeAsync(folder, new JsonObject
        {
            ["kind"] = "tail",
            ["listen"] = TestPorts.Address(),
            ["settings"] = new JsonObject { ["color"] = "red" },
        });
        var fault = await Assert.ThrowsAsync<NodeStartException>(
            () => NodeRunner.RunAsync(config, TextWriter.Null, NodeRoles.Log, [new TailFrontEnd()], default));
        Assert.EndsWith(
            "has settings of the front end 'tail', which has none.", fault.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""[{ "listen": "127.0.0.1:1" }]""", "FrontEnds: a front end needs a kind.")]
    [InlineData("""[{ "kind": "tail" }]""", "FrontEnds: tail: '' is no address:port")]
    [InlineData("""[{ "kind": "tail", "listen": "10.0.0.5:1" }]""", "FrontEnds: tail: 10.0.0.5 is not a loopback")]
    [InlineData("""[{ "kind": "a", "listen": "127.0.0.1:1" }, { "kind": "a", "listen": "127.0.0.1:2" }]""",
        "FrontEnds: more than one of the kind 'a'.")]
    [InlineData("""[{ "kind": "a", "listen": "127.0.0.1:1" }, { "kind": "b", "listen": "127.0.0.1:1" }]""",
        "FrontEnds: two share the address 127.0.0.1:1.")]
    public async Task Fault_of_a_front_end_is_told_before_the_node_starts(string frontEnds, string message)
    {
        using var folder = new TempFolder();
        var config = await NewNodeAsync(
            folder, [.. JsonNode.Parse(frontEnds)!.AsArray().Select(own => own!.DeepClone())]);
        var fault = await Assert.ThrowsAsync<NodeStartException>(
            () => NodeRunner.RunAsync(config, TextWriter.Null, NodeRoles.Log, [], default));
        Assert.Contains(message, fault.Message, StringComparison.Ordinal);
    }

    private static async Task<string> NewNodeAsync(TempFolder folder, params JsonNode[] frontEnds)
    {
        await NodeInit.FirstAsync(folder.File("node"), new NodeListen(TestPorts.Address()));
        var path = folder.File("node/node.json");
        var config = JsonNode.Parse(await File.ReadAllTextAsync(path))!;
        config["frontEnds"] = new JsonArray(frontEnds);
        await File.WriteAllTextAsync(path, config.ToJsonString());
        return path;
    }

    /// <summary>Tells everyone who connects the tail of the log.</summary>
    private sealed class TailFrontEnd : IFrontEnd, IAsyncDisposable
    {
        private readonly CancellationTokenSource _stop = new();
        private Task _serving = Task.CompletedTask;

        public string Kind => "tail";

        public IReadOnlyCollection<string> Allowed { get; private set; } = [];

        public bool IsDisposed { get; private set; }

        public Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken)
        {
            Allowed = start.Allow;
            var listener = new TcpListener(IPAddress.Loopback, start.Listen.Port);
            listener.Start();
            _serving = ServeAsync(listener, start.Connection);
            return Task.FromResult<IAsyncDisposable>(this);
        }

        public async ValueTask DisposeAsync()
        {
            await _stop.CancelAsync();
            await _serving;
            IsDisposed = true;
        }

        private async Task ServeAsync(TcpListener listener, string connection)
        {
            using (listener)
            {
                try
                {
                    while (true)
                    {
                        using var caller = await listener.AcceptTcpClientAsync(_stop.Token);
                        await using var log = await CorfuClient.ConnectAsync(
                            connection, cancellationToken: _stop.Token);
                        await using var writer = new StreamWriter(caller.GetStream());
                        await writer.WriteLineAsync($"{(await ((ICorfuLog)log).CheckAsync([])).Tail.Offset}");
                    }
                }
                catch (OperationCanceledException)
                {
                    // The node ends.
                }
            }
        }
    }
}
