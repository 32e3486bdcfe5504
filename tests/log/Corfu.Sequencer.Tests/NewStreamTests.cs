using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Sequencer.Tests;

public sealed class NewStreamTests
{
    private static readonly Principal s_client = Peer(AccessRole.Client, "orders");

    private readonly Clock _time = new();
    private readonly SequencerHandler _handler;
    private ulong _next;

    public NewStreamTests()
    {
        _handler = new SequencerHandler(SystemEntropy.Instance,
            new SequencerOptions { MaxNewStreamsPerMinute = 100 }, _time);
        Bootstrap(epoch: 1, start: 0);
    }

    [Fact]
    public void Client_appends_to_so_many_new_streams_in_a_minute_and_to_known_ones_without_end()
    {
        Assert.Equal(Status.Ok, Ask(s_client, New(60)));
        Assert.Equal(Status.Ok, Ask(s_client, New(40)));
        Assert.Equal(Status.StreamLimit, Ask(s_client, New(1)));
        for (var i = 0; i < 10; i++) Assert.Equal(Status.Ok, Ask(s_client, Known(100)));
        Assert.Equal(Status.Ok, Ask(s_client, []));
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(Status.Ok, Ask(s_client, New(100)));
        Assert.Equal(Status.StreamLimit, Ask(s_client, New(1)));
    }

    [Fact]
    public void Refused_token_grants_no_stream_and_is_not_counted()
    {
        Assert.Equal(Status.StreamLimit, Ask(s_client, New(101)));
        Assert.Equal(0, Tail());
        Assert.Equal(Status.Ok, Ask(s_client, New(100)));
    }

    [Fact]
    public void Clients_are_counted_apart_and_nodes_and_plain_peers_not_at_all()
    {
        Assert.Equal(Status.Ok, Ask(s_client, New(100)));
        Assert.Equal(Status.Ok, Ask(Peer(AccessRole.Client, "billing"), New(100)));
        Assert.Equal(Status.StreamLimit, Ask(Peer(AccessRole.Client, "billing"), New(1)));
        for (var i = 0; i < 5; i++)
        {
            Assert.Equal(Status.Ok, Ask(Peer(AccessRole.Node, "unit-0"), New(100)));
            Assert.Equal(Status.Ok, Ask(Principal.OfPlain("10.0.0.9"), New(100)));
        }
    }

    [Fact]
    public void Stream_of_an_older_epoch_is_not_new()
    {
        Assert.Equal(Status.Ok, Ask(s_client, New(100)));
        Bootstrap(epoch: 2, start: 1000);
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(Status.UnknownStream, Ask(s_client, Known(100), epoch: 2));
        Load(2, [.. Known(100).Select(stream => new StreamTail(stream, [new LogPosition((long)stream.Value)]))]);
        Assert.Equal(Status.Ok, Ask(s_client, Known(100), epoch: 2));
        var added = New(100);
        Assert.Equal(Status.UnknownStream, Ask(s_client, added, epoch: 2));
        Load(2, [.. added.Select(stream => new StreamTail(stream, []))]);
        Assert.Equal(Status.Ok, Ask(s_client, added, epoch: 2));
        Load(2, [.. New(1).Select(stream => new StreamTail(stream, []))]);
        Assert.Equal(Status.StreamLimit, Ask(s_client, [new StreamId(_next)], epoch: 2));
    }

    /// <summary>The client asks for the same token again once the sequencer has the tail.</summary>
    [Fact]
    public void Token_that_is_refused_for_a_missing_tail_is_not_counted()
    {
        Bootstrap(epoch: 2, start: 1000);
        var streams = New(100);
        Load(2, [.. streams.Skip(1).Select(stream => new StreamTail(stream, []))]);
        Assert.Equal(Status.UnknownStream, Ask(s_client, streams, epoch: 2));
        Load(2, [new StreamTail(streams[0], [])]);
        Assert.Equal(Status.Ok, Ask(s_client, streams, epoch: 2));
        Load(2, [.. New(1).Select(stream => new StreamTail(stream, []))]);
        Assert.Equal(Status.StreamLimit, Ask(s_client, [new StreamId(_next)], epoch: 2));
    }

    [Fact]
    public void Streams_of_a_token_that_the_sequencer_decides_against_are_not_counted()
    {
        Assert.Equal(Status.Ok, Ask(s_client, [new StreamId(1000)]));
        var since = new LogPosition(0, new Epoch(1));
        var streams = New(99);
        var stale = new Declaration([new DeclaredRecord([new CellScope(streams[0], ScopeKind.Whole)], since,
            [new CellScope(new StreamId(1000), ScopeKind.Whole)])]);
        var refused = Send(
            new TokenRequest(new Epoch(1), 1, streams, 0) { Declarations = [stale] }, s_client);
        Assert.False(Assert.Single(((TokenResponse)refused).Rulings).IsGranted);
        Assert.Equal(Status.Ok, Ask(s_client, streams));
        Assert.Equal(Status.StreamLimit, Ask(s_client, New(1)));
    }

    private static Principal Peer(AccessRole role, string name) => new(role, name) { Serial = "01" };

    private static ImmutableArray<StreamId> Known(int count) =>
        [.. Enumerable.Range(1, count).Select(i => new StreamId((ulong)i))];

    private ImmutableArray<StreamId> New(int count) =>
        [.. Enumerable.Range(0, count).Select(_ => new StreamId(++_next))];

    private void Bootstrap(long epoch, long start) => Assert.Equal(Status.Ok,
        Send(new BootstrapRequest(Setup.Projection(epoch, start, _handler.Id)), Principal.Local).Status);

    private void Load(long epoch, ImmutableArray<StreamTail> tails) => Assert.Equal(Status.Ok,
        Send(new LoadStreamsRequest(new Epoch(epoch), tails), s_client).Status);

    private long Tail() => ((TailResponse)Send(new TailRequest(new Epoch(1), []), Principal.Local)).Tail.Offset;

    private Status Ask(Principal peer, ImmutableArray<StreamId> streams, long epoch = 1) =>
        Send(new TokenRequest(new Epoch(epoch), 1, streams, 0), peer).Status;

    private Response Send(Request request, Principal peer)
    {
        var sink = new Sink(peer);
        _handler.Handle(request, new ReplyTo(sink, 1, request.Opcode));
        return sink.Answer!;
    }

    private sealed class Clock : TimeProvider
    {
        private TimeSpan _now = TimeSpan.FromDays(1);

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => _now.Ticks;

        public void Advance(TimeSpan by) => _now += by;
    }

    private sealed class Sink(Principal peer) : IReplySink
    {
        public Principal Principal => peer;

        public Response? Answer { get; private set; }

        public void Send(uint correlation, Opcode opcode, Response response) => Answer = response;
    }
}
