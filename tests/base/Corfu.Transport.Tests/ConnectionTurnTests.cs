using System.IO.Pipelines;
using Corfu.Protocol;
using Corfu.Server;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Transport.Tests;

/// <summary>With inline scheduling one thread receives for many connections and handles the requests of each.</summary>
public sealed class ConnectionTurnTests
{
    private static readonly PipeOptions s_inline = new(readerScheduler: PipeScheduler.Inline,
        writerScheduler: PipeScheduler.Inline, useSynchronizationContext: false);

    private static readonly ReadRequest s_request = new(new Epoch(1), [new LogPosition(3)], ReadDetail.Full);

    /// <summary>A connection whose next bytes are always there would keep the thread for itself.</summary>
    [Fact]
    public async Task Busy_connection_leaves_the_receiving_thread_after_a_turn()
    {
        using var registry = new RoleRegistry(TestServer.Cluster, new RequestTable(UnitMessages.AddTo));
        var echo = new EchoRole(new NodeId(Guid.NewGuid()));
        registry.Add(echo);
        var (input, output) = (new Pipe(s_inline), new Pipe(s_inline));
        var context = new DefaultConnectionContext { Transport = new Duplex(input.Reader, output.Writer) };
        var later = new Later();

        // On a thread of its own, with a context that shows what leaves it. Not from the beginning: with a context the
        // end of a task, as the handshake has them, resumes on another thread.
        var seen = await Task.Factory.StartNew(
            () =>
            {
                _ = registry.ServeAsync(context);
                Receive(Wire.Hello(TestServer.Cluster, echo.Id));
                SynchronizationContext.SetSynchronizationContext(later);
                for (uint i = 1; i < ServerConnection.Turn; i++) Receive(Wire.Frame(i, s_request));
                var before = (echo.Requests, later.Count);
                Receive(Wire.Frame(1000, s_request));
                Receive(Wire.Frame(1001, s_request));
                var after = (echo.Requests, later.Count);
                later.Run();
                SynchronizationContext.SetSynchronizationContext(null);
                return (Before: before, After: after, End: echo.Requests);
            },
            default, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        Assert.Equal((ServerConnection.Turn - 1, 0), seen.Before);
        Assert.Equal((ServerConnection.Turn, 1), seen.After);
        Assert.Equal(ServerConnection.Turn + 1, seen.End);

        void Receive(byte[] bytes) => Assert.True(input.Writer.WriteAsync(bytes).IsCompletedSuccessfully);
    }

    private sealed class Later : SynchronizationContext
    {
        private readonly Queue<(SendOrPostCallback Work, object? State)> _work = new();

        public int Count => _work.Count;

        public override void Post(SendOrPostCallback d, object? state) => _work.Enqueue((d, state));

        public void Run()
        {
            while (_work.TryDequeue(out var next)) next.Work(next.State);
        }
    }

    private sealed record Duplex(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
