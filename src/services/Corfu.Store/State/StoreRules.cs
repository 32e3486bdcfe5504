using Corfu.Store.Records;

namespace Corfu.Store.State;

/// <summary>Decides records where they stand (K7): functions of the state and the record alone.</summary>
internal static class StoreRules
{
    public static (StoreState State, Outcome Outcome) Decide(StoreState state, StoreRecord record, LogPlace place)
    {
        var outcome = record switch
        {
            ConfigureRecord configure => Configure(state, configure),
            _ when state.Settings is null => new Outcome(Verdict.NotConfigured, state),
            TransactRecord transact => TransactionRules.Decide(state, transact, place),
            MoveRecord move => Move(state, move, place),
            CompactRecord compact => Compact(state, compact.Revision),
            PinRecord pin => Pin(state, pin.Name),
            UnpinRecord unpin => new Outcome(Verdict.Done, state with { Pins = state.Pins.Remove(unpin.Name) }),
            RevertRecord revert => Revert(state, revert.Revision, place),
            GrantRecord grant => Grant(state, grant),
            RenewRecord renew => Renew(state, renew),
            EndLeaseRecord end => EndLease(state, end, place),
            _ => throw new TangoFormatException($"No store knows {record.GetType().Name}"),
        };

        var most = record is CompactRecord ? Pruning.PerCompaction : Pruning.PerRecord;
        var pruned = Pruning.Prune(outcome.After, most);
        // K7: else a transaction cannot answer with what it has superseded itself.
        return (pruned, record is TransactRecord ? outcome : outcome with { After = pruned });
    }

    private static Outcome Configure(StoreState state, ConfigureRecord configure) => state.Settings is null
        ? new Outcome(Verdict.Done, state with { Settings = configure.Settings })
        : new Outcome(Verdict.NotConfigured, state);

    private static Outcome Move(StoreState state, MoveRecord move, LogPlace place)
    {
        if (IsTooOld(state, move.Values, place)) return new Outcome(Verdict.ValuesTooOld, state);
        var table = state.Table;
        var moved = 0;
        foreach (var one in move.Moves)
        {
            var to = move.Values[one.Value].PlaceIn(place, one.Value);
            if (table.Find(one.Key)?.Moved(one.Revision, one.From, to) is not { } row) continue;
            table = table.Set(one.Key, row);
            moved++;
        }

        return new Outcome(Verdict.Done, state with { Table = table }, moved);
    }

    private static Outcome Compact(StoreState state, long revision)
    {
        if (revision > state.Revision) return new Outcome(Verdict.Ahead, state, revision);
        // A repetition goes on dropping versions.
        return revision < state.Floor
            ? new Outcome(Verdict.Compacted, state, revision)
            : new Outcome(Verdict.Done, state with { Floor = revision }, revision)
            {
                Succeeded = revision > state.Floor,
            };
    }

    private static Outcome Pin(StoreState state, string name) =>
        new(Verdict.Done, state with { Pins = state.Pins.SetItem(name, state.Revision) }, state.Revision);

    private static Outcome Revert(StoreState state, long revision, LogPlace place)
    {
        if (revision > state.Revision) return new Outcome(Verdict.Ahead, state, revision);
        if (!state.CanRead(revision)) return new Outcome(Verdict.Compacted, state, revision);
        var working = new WorkingState(state, place);
        var puts = false;
        foreach (var key in state.Table.Keys)
        {
            var row = state.Table.Rows[key];
            var (now, then) = (row.At(long.MaxValue), row.At(revision));
            if (then is null && now is not null) working.Delete(key);
            // The same value: it has the place that it had, or has moved with each version of it.
            if (then is null || now?.Place == then.Place) continue;
            working.Put(key, then.Place, 0);
            puts = true;
        }

        var after = working.ToState();
        return puts && IsAboveQuota(after)
            ? new Outcome(Verdict.Quota, state, state.Settings!.QuotaBytes!.Value)
            : new Outcome(Verdict.Done, after);
    }

    // K16: counted in Apply, against the quota that is in the log. Else replicas refuse differently.
    public static bool IsAboveQuota(StoreState after) =>
        after.Settings!.QuotaBytes is { } quota && after.Bytes > quota;

    private static Outcome Grant(StoreState state, GrantRecord grant)
    {
        if (grant.Id is { } asked && state.Leases.ContainsKey(asked))
            return new Outcome(Verdict.LeaseExists, state, asked);
        var last = state.LastLease;
        var id = grant.Id ?? ++last;
        while (grant.Id is null && state.Leases.ContainsKey(id)) id = ++last;
        var row = new LeaseRow(++last, grant.Milliseconds, grant.At, []);
        return new Outcome(
            Verdict.Done, state with { Leases = state.Leases.Add(id, row), LastLease = last }, id);
    }

    private static Outcome Renew(StoreState state, RenewRecord renew)
    {
        if (!state.Leases.TryGetValue(renew.Id, out var row))
            return new Outcome(Verdict.LeaseNotFound, state, renew.Id);
        var version = state.LastLease + 1;
        row = row with { Version = version, RenewedAt = renew.At };
        return new Outcome(
            Verdict.Done, state with { Leases = state.Leases.SetItem(renew.Id, row), LastLease = version },
            row.Milliseconds);
    }

    // K15: an expiry names the version that was seen. Else a renewal that came before it is void.
    private static Outcome EndLease(StoreState state, EndLeaseRecord end, LogPlace place)
    {
        if (!state.Leases.TryGetValue(end.Id, out var row))
            return new Outcome(Verdict.LeaseNotFound, state, end.Id);
        if (end.Version is { } seen && seen != row.Version && !Planted.Is("any-version-ends"))
            return new Outcome(Verdict.Changed, state, end.Id);
        var working = new WorkingState(state, place);
        working.EndLease(end.Id);
        return new Outcome(Verdict.Done, working.ToState(), end.Id);
    }

    /// <summary>K2: no claim rises above a checkpoint that precedes the record, less the span. So a value at most the
    /// span below the record is in the log. Else a writer pauses after its values, and two checkpoints and a trim
    /// pass.</summary>
    public static bool IsTooOld(StoreState state, ImmutableArray<StoredValue> values, LogPlace place)
    {
        if (Planted.Is("any-age-of-values")) return false;
        foreach (var value in values)
        {
            if (value.Elsewhere is { } old && old.Position < place.Position.Offset - state.Settings!.Span) return true;
        }

        return false;
    }
}
