using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Checks;

/// <summary>Decisions, acknowledgements, refusals and answers so far: as much of the past as the invariants
/// need.</summary>
public sealed record History(
    ImmutableArray<Projection> Epochs,
    ImmutableArray<(long Position, EntryOrigin Origin)> Acknowledged,
    ImmutableArray<EntryOrigin> Refused,
    ImmutableArray<(long Position, EntryKind Kind, EntryOrigin Origin)> Observed,
    ImmutableArray<(string Operation, long Above)> Running)
{
    public static History Of(params Projection[] decided) => new([.. decided], [], [], [], []);

    public Projection Newest => Epochs[^1];

    public string Key =>
        $"{string.Join('|', Epochs.Select(Names.Of))} ack "
        + $"{string.Join(',', Acknowledged.Select(a => $"{a.Position}={Names.Of(a.Origin)}"))} " +
        $"no {string.Join(',', Refused.Select(Names.Of))} saw "
        + $"{string.Join(',', Observed.Select(o => $"{o.Position}={o.Kind}{Names.Of(o.Origin)}"))} " +
        $"run {string.Join(',', Running.Select(r => $"{r.Operation}>{r.Above}"))}";

    /// <returns>The history with the fact in it, and what is wrong with it.</returns>
    public (History Next, string? Violation) With(Fact fact)
    {
        switch (fact)
        {
            case Began began:
                return (this
                    with
                {
                    Running =
                        Running.Add(
                            (began.Operation, Acknowledged.Length == 0 ? -1 : Acknowledged.Max(a => a.Position)))
                },
                            null);
            case Acknowledged done:
                return Acknowledge(done);
            case Refused refused:
                return Refuse(refused.Origin);
            case Observed seen:
                return Observe(seen);
            case Checked check:
                var above = Above(check.Operation);
                return (Over(check.Operation),
                    check.Tail > above
                        ? null
                        : $"check: a tail of {check.Tail} is answered, and {above} was acknowledged before it was "
                            + "asked for");
            case Decided decided:
                return Decide(decided.Projection);
            default:
                return (this, ((Met)fact).What);
        }
    }

    private (History, string?) Acknowledge(Acknowledged done)
    {
        var next = Over(done.Operation)
            with
        { Acknowledged = [.. Acknowledged.Add((done.Position, done.Origin)).OrderBy(a => a.Position)] };
        if (Acknowledged.Any(a => a.Position == done.Position && a.Origin != done.Origin))
            return (next, $"write-once: two appends are acknowledged at {done.Position}");
        if (Refused.Contains(done.Origin))
            return (next, $"exactly-once: {Names.Of(done.Origin)} was refused, and is acknowledged");
        var above = Above(done.Operation);
        if (done.Position <= above)
            return (next,
                $"log-order: {done.Position} is acknowledged to an append that began after {above} was acknowledged");
        return (next, Differs(done.Position, EntryKind.Data, done.Origin));
    }

    private (History, string?) Refuse(EntryOrigin origin)
    {
        var next = Refused.Contains(origin) ? this : this with { Refused = [.. Refused.Add(origin).OrderBy(Names.Of)] };
        return (next, Acknowledged.Any(a => a.Origin == origin)
            ? $"exactly-once: {Names.Of(origin)} was acknowledged, and is refused"
            : null);
    }

    private (History, string?) Observe(Observed seen)
    {
        var violation = Differs(seen.Position, seen.Kind, seen.Origin);
        if (Observed.Contains((seen.Position, seen.Kind, seen.Origin))) return (this, violation);
        return (this
            with
        { Observed = [.. Observed.Add((seen.Position, seen.Kind, seen.Origin)).OrderBy(o => o.Position)] },
            violation);
    }

    private string? Differs(long position, EntryKind kind, EntryOrigin origin)
    {
        foreach (var other in Observed)
        {
            if (other.Position == position && (other.Kind != kind || other.Origin != origin))
                return $"write-once: {position} was seen to hold {other.Kind} {Names.Of(other.Origin)}, and then "
                    + $"{kind} {Names.Of(origin)}";
        }

        foreach (var other in Acknowledged)
        {
            if (other.Position == position && (kind != EntryKind.Data || other.Origin != origin))
                return $"write-once: {Names.Of(other.Origin)} is acknowledged at {position}, which is seen to hold "
                    + $"{kind} {Names.Of(origin)}";
        }

        return null;
    }

    private (History, string?) Decide(Projection projection)
    {
        foreach (var known in Epochs)
        {
            if (known.Epoch == projection.Epoch)
                return (this,
                    known.Equals(projection)
                        ? null
                        : $"one-projection: {Names.Of(known)} and {Names.Of(projection)} are both decided");
        }

        return (this with { Epochs = [.. Epochs.Add(projection).OrderBy(e => e.Epoch)] }, null);
    }

    private long Above(string operation)
    {
        foreach (var running in Running)
        {
            if (running.Operation == operation) return running.Above;
        }

        return -1;
    }

    private History Over(string operation) => this with { Running = Running.RemoveAll(r => r.Operation == operation) };
}
