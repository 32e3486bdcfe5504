using System.Text.Json.Nodes;
using Corfu.Hosting;

namespace Corfu.Operations.Tests;

/// <summary>A node of its own cluster, run as 'corfu node' runs it.</summary>
internal sealed class NodeUnderTest : IAsyncDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("corfu-node-");
    private readonly CancellationTokenSource _stop = new();
    private Task<int> _running = Task.FromResult(0);

    private NodeUnderTest()
    {
    }

    public string Http { get; } = TestPorts.Address();

    public string Listen { get; } = TestPorts.Address();

    public HttpClient Client { get; } = new();

    public string File(string name) => Path.Combine(_folder.FullName, "node", name);

    public static async Task<NodeUnderTest> StartAsync(
        Action<JsonObject>? configure = null, INodePages? console = null, params IFrontEnd[] frontEnds)
    {
        var node = new NodeUnderTest();
        await NodeInit.FirstAsync(Path.Combine(node._folder.FullName, "node"), new NodeListen(node.Listen));
        var config = JsonNode.Parse(await System.IO.File.ReadAllTextAsync(node.File("node.json")))!.AsObject();
        config["http"] = new JsonObject { ["listen"] = node.Http };
        configure?.Invoke(config);
        await System.IO.File.WriteAllTextAsync(node.File("node.json"), config.ToJsonString());
        var ready = new FirstLine();
        node._running = NodeRunner.RunAsync(
            node.File("node.json"), ready, NodeRoles.Log, [.. frontEnds], [new NodeOperations(console)],
            node._stop.Token);
        if (await Task.WhenAny(ready.Line, node._running) == node._running) await node._running;
        node.Client.BaseAddress = new Uri($"http://{node.Http}");
        return node;
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _stop.CancelAsync();
        await _running;
        _folder.Delete(recursive: true);
    }

    private sealed class FirstLine : StringWriter
    {
        private readonly TaskCompletionSource _line = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Line => _line.Task;

        public override Task WriteLineAsync(string? value)
        {
            _line.TrySetResult();
            return Task.CompletedTask;
        }
    }
}
