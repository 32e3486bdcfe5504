using Corfu.Store.State;

namespace Corfu.Store.Writing;

/// <summary>Evaluates what the operations of a transaction read, on the keys that each of them met (K7).</summary>
internal static class TransactionAnswers
{
    public static ImmutableArray<StoreAnswer> Of(
        StoreTransaction transaction, BranchOutcome branch, long revision, ValueOf valueOf)
    {
        var operations = branch.Succeeded ? transaction.Success : transaction.Failure;
        var answers = ImmutableArray.CreateBuilder<StoreAnswer>(operations.Length);
        for (var i = 0; i < operations.Length; i++)
            answers.Add(Of(operations[i], branch.Steps[i], revision, valueOf));
        return answers.MoveToImmutable();
    }

    /// <summary>Entries of a range, at a revision.</summary>
    public static StoreEntries Page(KeyTable table, StoreRange range, RangeOptions options, long at, long revision,
        ValueOf valueOf)
    {
        var entries = ImmutableArray.CreateBuilder<StoreEntry>();
        long count = 0;
        foreach (var (key, version) in table.Range(range, at))
        {
            count++;
            if (options.CountOnly || (options.Limit > 0 && entries.Count >= options.Limit)) continue;
            entries.Add(version.ToEntry(key, options.KeysOnly ? default : valueOf(key, version)));
        }

        return new StoreEntries(revision, entries.DrainToImmutable(), count);
    }

    private static StoreAnswer Of(StoreOperation operation, StepOutcome step, long revision, ValueOf valueOf)
    {
        switch (operation)
        {
            case StorePut put:
                return new PutAnswer(put.Previous && step.Before.Find(put.Key, long.MaxValue) is { } before
                    ? before.ToEntry(put.Key, valueOf(put.Key, before))
                    : null);
            case StoreDelete delete:
                var found = step.Before.Range(delete.Range).ToArray();
                return new DeleteAnswer(found.Length, delete.Previous
                    ? [.. found.Select(one => one.Version.ToEntry(one.Key, valueOf(one.Key, one.Version)))]
                    : []);
            case StoreGet get:
                return new GetAnswer(Page(step.Before, get.Range, get.Options ?? RangeOptions.Default,
                    get.Revision ?? long.MaxValue, revision, valueOf));
            default:
                return new NestedAnswer(step.Nested!.Succeeded,
                    Of(((StoreNested)operation).Transaction, step.Nested, revision, valueOf));
        }
    }
}

/// <summary>The value of a version.</summary>
internal delegate ReadOnlyMemory<byte> ValueOf(StoreKey key, StoreVersion version);
