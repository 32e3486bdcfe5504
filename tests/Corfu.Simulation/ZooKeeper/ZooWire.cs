using System.Buffers;
using System.IO.Pipelines;
using System.Net;
using Corfu.Simulation.Kernel;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http.Features;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>A connection of a client to a front end: bytes come in their order and late, until one side ends, dies, or
/// the way is cut.</summary>
internal sealed class ZooWire : ConnectionContext, IDuplexPipe
{
    private const long MeanLatency = 1_000;

    // Packets that were queued before a process stood still leave behind that.
    private const long WakingTime = 50_000;

    // The writer never waits; what awaits a pipe goes on in its own process.
    private static readonly PipeOptions s_options = new(
        readerScheduler: PipeScheduler.Inline, writerScheduler: PipeScheduler.Inline, pauseWriterThreshold: 0,
        resumeWriterThreshold: 0, useSynchronizationContext: true);

    private readonly World _world;
    private readonly SimRandom _random;
    private readonly SimProcess _client;
    private readonly SimProcess _server;
    private readonly Action<byte[]?> _received;
    private readonly Action<long> _given;
    private readonly Pipe _in = new(s_options);
    private readonly Pipe _out = new(s_options);

    // Null: the sender has ended.
    private readonly Queue<byte[]?> _toServer = [];
    private readonly Queue<byte[]?> _toClient = [];
    private bool _isCut;
    private bool _hasEnded;

    /// <param name="received">Hears in the client's process; null: the connection is over.</param>
    /// <param name="given">Hears of packets that the front end sends, by session.</param>
    public ZooWire(World world, SimRandom random, SimProcess client, SimProcess server, Action<byte[]?> received,
        Action<long> given)
    {
        (_world, _random, _client, _server, _received, _given) = (world, random, client, server, received, given);
        Transport = this;
        // Half of the machines that die reset their connections.
        server.OnKill(() =>
        {
            if (random.Chance(0.5)) ToClient(null);
        });
    }

    public override string ConnectionId { get; set; } = "";

    public override IFeatureCollection Features { get; } = new FeatureCollection();

    public override IDictionary<object, object?> Items { get; set; } = new Dictionary<object, object?>();

    public override IDuplexPipe Transport { get; set; }

    public override EndPoint? RemoteEndPoint { get; set; } = new IPEndPoint(IPAddress.Loopback, 1);

    /// <summary>0: the handshake is not over.</summary>
    public long Session { get; set; }

    public PipeReader Input => _in.Reader;

    public PipeWriter Output => _out.Writer;

    /// <summary>Nothing passes any more.</summary>
    public void Cut() => _isCut = true;

    public override void Abort(ConnectionAbortedException abortReason)
    {
        _hasEnded = true;
        ToClient(null);
        _in.Writer.Complete();
    }

    public override void Abort() => Abort(new ConnectionAbortedException());

    /// <summary>Serves the connection to its end, in the front end's process.</summary>
    public async Task ServeAsync(Func<ConnectionContext, Task> serve)
    {
        Task giving = GiveAsync();
        await serve(this);
        await _out.Writer.CompleteAsync();
        await giving;
    }

    /// <summary>Sends bytes of the client.</summary>
    /// <param name="bytes">Null: the client ends the connection.</param>
    public void Send(byte[]? bytes)
    {
        _toServer.Enqueue(bytes);
        _world.Schedule(_server, Latency(), SimEventKind.Deliver, () =>
        {
            if (_isCut || _hasEnded) return;
            if (_toServer.Dequeue() is { } next)
            {
                _in.Writer.Write(next);
                _ = _in.Writer.FlushAsync();
            }
            else
            {
                _hasEnded = true;
                _in.Writer.Complete();
            }
        });
    }

    private async Task GiveAsync()
    {
        while (true)
        {
            ReadResult read = await _out.Reader.ReadAsync();
            if (!read.Buffer.IsEmpty)
            {
                ToClient(read.Buffer.ToArray());
                if (Session != 0 && _world.Now - _server.PausedUntil > WakingTime) _given(Session);
            }

            _out.Reader.AdvanceTo(read.Buffer.End);
            if (!read.IsCompleted) continue;
            ToClient(null);
            return;
        }
    }

    private void ToClient(byte[]? bytes)
    {
        _toClient.Enqueue(bytes);
        _world.Schedule(_client, Latency(), SimEventKind.Deliver, () =>
        {
            byte[]? next = _toClient.Dequeue();
            if (!_isCut) _received(next);
        });
    }

    private long Latency() => 100 + _random.Exponential(MeanLatency);
}
