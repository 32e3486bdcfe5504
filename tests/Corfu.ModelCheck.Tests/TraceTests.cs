using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.ModelCheck.Processes;
using Corfu.ModelCheck.Traces;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;

namespace Corfu.ModelCheck.Tests;

/// <summary>Deviations from the protocol, written down by hand, and a few runs of the simulator
/// (docs/testing-simulator.md).</summary>
public sealed class TraceTests
{
    private static readonly Projection s_first = Make(1, 0, Projections.Chain(0, 1));

    private readonly TraceCheck _check = new();
    private readonly SimProcess _client = new(new World(1), 1, "client");

    public TraceTests() => _check.Sent(_client, Names.Acceptor(1), new DecidedRequest(s_first));

    private static EntryOrigin Origin => new(Names.Writer('A'), 1);

    [Fact]
    public void Append_down_the_whole_chain_is_followed()
    {
        Grant(0);
        Call(0, Write(0), new WriteResponse(Status.Ok, Epoch.First));
        Call(1, Write(0), new WriteResponse(Status.Ok, Epoch.First));
        _check.Acknowledged(new LogPosition(0, Epoch.First), Origin);
        Assert.Null(_check.Refusal);
        Assert.Equal(4, _check.Steps);
    }

    [Fact]
    public void Acknowledgement_from_the_head_alone_is_refused()
    {
        Grant(0);
        Call(0, Write(0), new WriteResponse(Status.Ok, Epoch.First));
        _check.Acknowledged(new LogPosition(0, Epoch.First), Origin);
        Assert.EndsWith("is acknowledged", _check.Refusal, StringComparison.Ordinal);
    }

    [Fact]
    public void Write_that_passes_the_head_by_is_refused()
    {
        Grant(0);
        _check.Sent(_client, Names.Unit(1), Write(0));
        Assert.NotNull(_check.Refusal);
    }

    [Fact]
    public void Write_without_a_grant_is_refused()
    {
        Grant(0);
        _check.Sent(_client, Names.Unit(0), Write(1));
        Assert.NotNull(_check.Refusal);
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(0, true)]
    public void Fill_is_refused_above_the_tail(long tail, bool isRefused)
    {
        var look = new ReadRequest(Epoch.First, [new LogPosition(0)], ReadDetail.Full);
        var empty = new PageResult(new LogPosition(0), PageState.Unwritten, false, default, default);
        Call(0, look, new ReadResponse(Status.Ok, Epoch.First, [empty]));
        _check.Answered(_client, Names.Sequencer(1), new TailRequest(Epoch.First, []),
            new TailResponse(Status.Ok, Epoch.First, new LogPosition(tail, Epoch.First), [], 0, []));
        _check.Sent(_client, Names.Unit(0), new FillRequest(Epoch.First, Entry(0, EntryKind.Junk)));
        Assert.Equal(isRefused, _check.Refusal is not null);
    }

    [Fact]
    public void Copy_of_an_entry_that_was_not_read_at_the_head_is_refused()
    {
        _check.Sent(_client, Names.Unit(1), new CompleteRequest(Epoch.First, Entry(0, EntryKind.Data)));
        Assert.NotNull(_check.Refusal);
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(1, false)]
    public void Value_that_only_the_head_was_read_to_hold_is_refused_to_readers(int unit, bool isRefused)
    {
        var page = new PageResult(new LogPosition(0), PageState.Data, false, Origin, Entry(0, EntryKind.Data));
        Call(unit, new ReadRequest(Epoch.First, [new LogPosition(0)], ReadDetail.Full),
            new ReadResponse(Status.Ok, Epoch.First, [page]));
        _check.Shown(new LogPosition(0));
        Assert.Equal(isRefused, _check.Refusal is not null);
    }

    [Theory]
    [InlineData(1, 5, false)]
    [InlineData(0, 5, true)]
    [InlineData(1, 4, true)]
    public void Proposal_is_refused_without_the_first_survivors_seal(int sealedUnit, long end, bool isRefused)
    {
        // Unit 0 leaves: unit 1 is the first survivor.
        var next = Make(2, 5, Projections.Chain(1));
        Call(sealedUnit, new SealRequest(next.Epoch),
            new SealResponse(Status.Ok, next.Epoch, new LogPosition(end), LogPosition.Zero));
        Promise(next);
        _check.Sent(_client, Names.Acceptor(1), new AcceptRequest(s_ballot, next));
        Assert.Equal(isRefused, _check.Refusal is not null);
    }

    [Fact]
    public void Install_of_a_projection_without_a_majority_is_refused()
    {
        var next = Make(2, 5, Projections.Chain(1));
        Call(1, new SealRequest(next.Epoch),
            new SealResponse(Status.Ok, next.Epoch, new LogPosition(5), LogPosition.Zero));
        Promise(next);
        _check.Sent(_client, Names.Acceptor(1), new AcceptRequest(s_ballot, next));
        Assert.Null(_check.Refusal);
        _check.Sent(_client, Names.Unit(1), new InstallRequest(next));
        Assert.NotNull(_check.Refusal);
    }

    [Fact]
    public void Runs_of_the_simulator_are_followed()
    {
        // A process of its own: the simulator needs a thread pool with one worker.
        var start = new System.Diagnostics.ProcessStartInfo("dotnet") { RedirectStandardOutput = true };
        foreach (var argument in (string[])
            [Path.Combine(AppContext.BaseDirectory, "Corfu.ModelCheck.dll"), "--traces", "3"])
            start.ArgumentList.Add(argument);
        using var process = System.Diagnostics.Process.Start(start)!;
        var output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.EndsWith("traces=3 refused=0", output.TrimEnd(), StringComparison.Ordinal);
    }

    private static readonly Ballot s_ballot = new(1, Names.Proposer('A', 1));

    private void Promise(Projection next) => _check.Answered(
        _client, Names.Acceptor(1), new PrepareRequest(next.Epoch, s_ballot),
        new LayoutResponse(
            Status.Ok, next.Epoch, new SlotState(next.Epoch, s_ballot, default, null, false), s_first));

    private void Grant(long position) => _check.Answered(
        _client, Names.Sequencer(1), new TokenRequest(Epoch.First, 1, []),
        new TokenResponse(Status.Ok, Epoch.First, new LogPosition(position, Epoch.First), [], []));

    private void Call(int unit, Request request, Response response)
    {
        _check.Sent(_client, Names.Unit(unit), request);
        _check.Answered(_client, Names.Unit(unit), request, response);
    }

    private static WriteRequest Write(long position) => new(Epoch.First, Entry(position, EntryKind.Data));

    private static byte[] Entry(long position, EntryKind kind) => EntryCodec.Encode(new LogEntry(
        new LogPosition(position, Epoch.First), Origin, kind, DateTimeOffset.UnixEpoch, [], default));

    private static Projection Make(long epoch, long start, Chain chain) => Projections.Make(
        new Epoch(epoch), Names.Sequencer(1), start, [Names.At(Names.Acceptor(1))],
        ImmutableArray.Create(new Segment(LogPosition.Zero, null, [chain])));
}
