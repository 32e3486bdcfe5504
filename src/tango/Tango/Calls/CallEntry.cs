using System.Collections.Immutable;
using Corfu;

namespace Tango.Calls;

/// <summary>
/// A batch of calls on its way into one entry. The sequencer decides those that ask for it as it grants the position;
/// those that it refuses leave, and go on by themselves.
/// </summary>
/// <remarks>Invariant: a record that is decided is in the payload only with a ruling of the payload's own position
/// (R28).</remarks>
internal sealed class CallEntry
{
    // Scopes that every request has room for.
    private const int Few = 256;

    // Calls that ask, with their records in the declaration that was made last.
    private readonly List<(int Record, AskCall Ask)> _asks = [];

    // Have left, and their callers wait.
    private readonly List<AskCall> _refused = [];

    public CallEntry(PendingCall[] calls)
    {
        Calls = calls;
        HasAsks = Array.Exists(calls, static call => call is AskCall);
        Streams = StreamsOf(calls);
    }

    /// <summary>In the order of their records.</summary>
    public PendingCall[] Calls { get; private set; }

    /// <summary>Streams of all calls with which the batch began: a refused one's stay in the entry's
    /// headers.</summary>
    public ImmutableArray<StreamId> Streams { get; }

    public bool HasAsks { get; private set; }

    /// <summary>Plays the entry; null: none of it is played here.</summary>
    public IPlayedEntries? Follower => Array.Find(Calls, static call => call.Follower is not null)?.Follower;

    public static bool IsSameStreams(PendingCall a, PendingCall b) =>
        a.Streams.AsSpan().SequenceEqual(b.Streams.AsSpan());

    /// <summary>Within the limits of a request: see <see cref="AskLimit"/>.</summary>
    public Declaration Declare()
    {
        if (Calls is [{ Streams.Length: 1, Writes.Length: > 0 and <= Few } only and not AskCall])
            return new Declaration([new DeclaredRecord(only.Writes, null, [])]);
        var declaration = Declare(isCoarse: false);
        return declaration.IsTooLarge ? Declare(isCoarse: true) : declaration;
    }

    /// <summary>The log has ruled on the declaration; null: it has not. The records that are not to be in the payload
    /// leave; <see cref="TellRefused"/> answers their callers.</summary>
    public void Rule(Ruling? ruling)
    {
        if (!HasAsks) return;
        foreach (var (record, ask) in _asks)
        {
            if (ruling is null)
            {
                Refuse(ask, AskEnd.NotDecided, null);
                continue;
            }

            if (RefusalOf(ruling, record) is { } refused)
                Refuse(ask, refused.Reason == RefusalReason.Written ? AskEnd.Written : AskEnd.TooOld, refused);
            else if (Planted.Is("committed-at-the-verdict")) ask.BelieveVerdict();
        }

        RemoveRefused();
    }

    /// <summary>R28: the position is lost, and the rulings with it. What was not decided may be sent again.</summary>
    public void LosePosition()
    {
        if (!HasAsks)
        {
            TellRefused();
            return;
        }

        if (Planted.Is("retry-keeps-its-verdict"))
        {
            HasAsks = false;
            return;
        }

        foreach (var ask in Calls.OfType<AskCall>()) Refuse(ask, AskEnd.PositionLost, null);
        RemoveRefused();
        TellRefused();
    }

    /// <summary>
    /// Answers the callers of the records that have left, once what is left of the entry is being played. A grant that
    /// writes what they read is then mostly played with it: a caller that hears of it at once asks for the tail, and
    /// meets grants of other runtimes that are not written yet. Where the position is lost, they do not wait for the
    /// next one.
    /// </summary>
    public void TellRefused()
    {
        _refused.ForEach(static ask => ask.TellRefused());
        _refused.Clear();
    }

    private void Refuse(AskCall ask, AskEnd end, Refusal? refusal)
    {
        ask.Refuse(end, refusal);
        _refused.Add(ask);
    }

    private static Refusal? RefusalOf(Ruling ruling, int record)
    {
        foreach (var refused in ruling.Refused)
        {
            if (refused.Record == record) return refused;
        }

        return null;
    }

    private void RemoveRefused()
    {
        Calls = Array.FindAll(Calls, static call => call is not AskCall { End: not AskEnd.None });
        HasAsks = Array.Exists(Calls, static call => call is AskCall);
    }

    // R25: asks are ruled on where they stand. What stands between two of them is one record to the sequencer.
    private Declaration Declare(bool isCoarse)
    {
        _asks.Clear();
        var records = ImmutableArray.CreateBuilder<DeclaredRecord>();
        var written = new WrittenScopes(isCoarse);
        foreach (var call in Calls)
        {
            if (call is not AskCall ask)
            {
                written.Add(call);
                continue;
            }

            EndRecord();
            _asks.Add((records.Count, ask));
            records.Add(new DeclaredRecord(ask.Writes, ask.Since, ask.Reads));
        }

        EndRecord();
        return new Declaration(records.DrainToImmutable());

        void EndRecord()
        {
            if (written.TakeAll() is { IsEmpty: false } writes) records.Add(new DeclaredRecord(writes, null, []));
        }
    }

    private static ImmutableArray<StreamId> StreamsOf(PendingCall[] calls)
    {
        var first = calls[0].Streams;
        if (Array.TrueForAll(calls, call => IsSameStreams(calls[0], call))) return first;
        var all = new SortedSet<StreamId>();
        foreach (var call in calls) all.UnionWith(call.Streams);
        return [.. all];
    }

    /// <summary>Writes of calls that do not ask, each scope once.</summary>
    /// <param name="isCoarse">A stream that is written counts as written whole.</param>
    private sealed class WrittenScopes(bool isCoarse)
    {
        private readonly ImmutableArray<CellScope>.Builder _scopes = ImmutableArray.CreateBuilder<CellScope>();
        private readonly HashSet<CellScope> _known = [];

        public void Add(PendingCall call)
        {
            foreach (var scope in call.Writes) Add(isCoarse && scope.Kind == ScopeKind.Keyed ? Whole(scope) : scope);

            // R24: what a call does not tell is everything.
            foreach (var stream in call.Streams)
            {
                if (!IsNamed(call, stream)) Add(new CellScope(stream, ScopeKind.Unit));
            }
        }

        public ImmutableArray<CellScope> TakeAll()
        {
            _known.Clear();
            return _scopes.DrainToImmutable();
        }

        private static bool IsNamed(PendingCall call, StreamId stream)
        {
            foreach (var scope in call.Writes)
            {
                if (scope.Stream == stream) return true;
            }

            return false;
        }

        private static CellScope Whole(CellScope scope) => new(scope.Stream, ScopeKind.Whole);

        private void Add(CellScope scope)
        {
            if (_known.Add(scope)) _scopes.Add(scope);
        }
    }
}

/// <summary>How many calls may share an entry with those that ask, so that one request can declare all of it.</summary>
internal struct AskLimit
{
    // Together below the 4,096 scopes of a request, and, with 17 bytes at most for each, below its 64 KiB.
    private const int MaxScopes = 2_048;
    private const int MaxStreams = 1_536;

    private int _records;
    private int _scopes;
    private int _streams;
    private bool _endsWithAsk;

    /// <summary>Whether the call can follow those that were added.</summary>
    public readonly bool Fits(PendingCall call)
    {
        var after = this;
        after.Add(call);
        return after._scopes == 0 || (after._records <= Declaration.MaxRecords && after._scopes <= MaxScopes
            && after._streams <= MaxStreams);
    }

    public void Add(PendingCall call)
    {
        var ask = call as AskCall;
        if (_records == 0 || _endsWithAsk || ask is not null) _records++;
        if (ask is not null) _scopes += ask.Scopes;
        else _streams += call.Streams.Length;
        _endsWithAsk = ask is not null;
    }
}
