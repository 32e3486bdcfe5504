using Corfu.Store.Records;

namespace Corfu.Store.State;

/// <summary>Decides a transaction: its branches by the state before it, then all that may refuse it, then its
/// steps.</summary>
internal static class TransactionRules
{
    public static Outcome Decide(StoreState state, TransactRecord record, LogPlace place)
    {
        if (StoreRules.IsTooOld(state, record.Values, place)) return new Outcome(Verdict.ValuesTooOld, state);
        foreach (var guard in record.Guards)
        {
            if (Read(state.Table, guard.Range) != guard && !Planted.Is("guards-not-checked"))
                return new Outcome(Verdict.Changed, state);
        }

        var path = Choose(state.Table, record.Branches);
        if (Refuse(state, path, record) is { } refusal) return refusal;
        var working = new WorkingState(state, place);
        var done = Run(working, path, record.Values, place);
        var after = working.ToState();
        if (StoreRules.IsAboveQuota(after) && Puts(path))
            return new Outcome(Verdict.Quota, state, state.Settings!.QuotaBytes!.Value);
        return new Outcome(Verdict.Done, after) { Succeeded = done.Succeeded, Steps = done.Steps };
    }

    /// <summary>A guard of a range, as it is now.</summary>
    public static Guard Read(KeyTable table, StoreRange range)
    {
        var (count, newest) = (0, 0L);
        foreach (var (_, version) in table.Range(range))
        {
            count++;
            newest = Math.Max(newest, version.Revision);
        }

        return new Guard(range, count, newest);
    }

    private static Path Choose(KeyTable table, Branches branches)
    {
        var succeeded = branches.Conditions.All(condition => Holds(table, condition));
        var steps = succeeded ? branches.Success : branches.Failure;
        return new Path(succeeded, [.. steps.Select(step =>
            (step, step is NestedStep nested ? Choose(table, nested.Branches) : null))]);
    }

    private static bool Holds(KeyTable table, Condition condition)
    {
        if (condition.Decided is { } decided) return decided;
        var any = false;
        foreach (var (_, version) in table.Range(condition.Range))
        {
            any = true;
            var number = condition.Number switch
            {
                NumberOf.Revision => version.Revision,
                NumberOf.Created => version.Created,
                NumberOf.Version => version.Version,
                _ => version.Lease,
            };
            if (!condition.Relation.Holds(number.CompareTo(condition.Operand))) return false;
        }

        return any || condition.Relation.Holds(0L.CompareTo(condition.Operand));
    }

    // All by the state before: a refused transaction changes nothing.
    private static Outcome? Refuse(StoreState state, Path path, TransactRecord record)
    {
        foreach (var (step, nested) in path.Steps)
        {
            switch (step)
            {
                case PutStep put:
                    if (put.Lease is > 0 and var lease && !state.Leases.ContainsKey(lease))
                        return new Outcome(Verdict.LeaseNotFound, state, lease);
                    if ((put.Value is null || put.Lease is null) && state.Table.Find(put.Key, long.MaxValue) is null)
                        return new Outcome(Verdict.KeyNotFound, state);
                    if (put.Value is { } value && (value < 0 || value >= record.Values.Length))
                        throw new TangoFormatException($"The record has no value {value}");
                    break;
                case GetStep { Revision: { } revision }:
                    if (revision > state.Revision) return new Outcome(Verdict.Ahead, state, revision);
                    if (!state.CanRead(revision)) return new Outcome(Verdict.Compacted, state, revision);
                    break;
                case NestedStep:
                    if (Refuse(state, nested!, record) is { } refusal) return refusal;
                    break;
            }
        }

        return null;
    }

    private static BranchOutcome Run(
        WorkingState working, Path path, ImmutableArray<StoredValue> values, LogPlace place)
    {
        var steps = ImmutableArray.CreateBuilder<StepOutcome>(path.Steps.Length);
        foreach (var (step, nested) in path.Steps)
        {
            var before = working.Table;
            BranchOutcome? inner = null;
            switch (step)
            {
                case PutStep put:
                    // Present, where something is kept; a step before may have deleted it, which the builder refuses.
                    var kept = before.Find(put.Key, long.MaxValue);
                    var value = put.Value is { } item ? values[item].PlaceIn(place, item) : kept?.Place;
                    if (value is { } stands) working.Put(put.Key, stands, put.Lease ?? kept?.Lease ?? 0);
                    break;
                case DeleteStep delete:
                    working.Delete(delete.Range);
                    break;
                case NestedStep:
                    inner = Run(working, nested!, values, place);
                    break;
            }

            steps.Add(new StepOutcome(Planted.Is("reads-from-a-later-view") ? working.Table : before, inner));
        }

        return new BranchOutcome(path.Succeeded, steps.MoveToImmutable());
    }

    private static bool Puts(Path path) =>
        path.Steps.Any(static one => one.Step is PutStep || (one.Nested is { } nested && Puts(nested)));

    private sealed record Path(bool Succeeded, ImmutableArray<(Step Step, Path? Nested)> Steps);
}

internal static class RelationExtensions
{
    /// <param name="order">Order of what is there and the operand.</param>
    public static bool Holds(this Relation relation, int order) => relation switch
    {
        Relation.Equal => order == 0,
        Relation.Greater => order > 0,
        Relation.Less => order < 0,
        _ => order != 0,
    };
}
