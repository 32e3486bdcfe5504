using System.IO.Pipelines;
using Corfu.Protocol;
using Corfu.Server;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Transport.Tests;

/// <summary>With inline scheduling a connection goes on within the call that ends its read or its socket.</summary>
public sealed class ConnectionEndTests
{
    private static readonly PipeOptions s_inline =
        new(readerScheduler: PipeScheduler.Inline, writerScheduler: PipeScheduler.Inline);

    /// <summary>Roles answer under locks of their own, and a slow reader is dropped within its answer.</summary>
    [Fact]
    public async Task Connection_ends_outside_of_the_call_that_drops_a_peer()
    {
        using var registry = new RoleRegistry(TestServer.Cluster, new RequestTable(UnitMessages.AddTo));
        var echo = new EchoRole(new NodeId(Guid.NewGuid()));
        registry.Add(echo);
        var (input, output) = (new Pipe(s_inline), new Pipe(s_inline));
        var gate = new Lock();
        var context = new Context(gate) { Transport = new Duplex(input.Reader, output.Writer) };
        var isEndHeld = registry.ServeAsync(context).ContinueWith(
            _ => gate.IsHeldByCurrentThread, default, TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
        await input.Writer.WriteAsync(Wire.Hello(TestServer.Cluster, echo.Id));
        lock (gate) Assert.True(registry.Remove(echo.Id));
        Assert.False(await isEndHeld);
        Assert.False(await context.IsAbortHeld.Task);
    }

    private sealed class Context(Lock gate) : DefaultConnectionContext
    {
        public TaskCompletionSource<bool> IsAbortHeld { get; } = new();

        public override void Abort(ConnectionAbortedException abortReason) =>
            IsAbortHeld.TrySetResult(gate.IsHeldByCurrentThread);
    }

    private sealed record Duplex(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
