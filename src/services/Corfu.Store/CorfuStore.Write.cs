using Corfu.Store.Index;
using Corfu.Store.Records;
using Corfu.Store.State;
using Corfu.Store.Writing;

namespace Corfu.Store;

public sealed partial class CorfuStore
{
    private const int MostAttempts = 16;

    // Values that were too old so often go in the record, if it has room.
    private const int AttemptsBeforeInline = 3;

    /// <summary>Makes or replaces a key. Completes when that is durable and decided.</summary>
    /// <param name="lease">The key ends with this lease; 0: with none.</param>
    /// <returns>The revision of the change.</returns>
    /// <exception cref="StoreException">The lease has ended, the store's quota is reached, or the value is too
    /// large.</exception>
    /// <exception cref="StoreInDoubtException">Whether the key was written is not known here;
    /// <see cref="ResolveAsync"/> finds out.</exception>
    public async ValueTask<long> PutAsync(
        StoreKey key, ReadOnlyMemory<byte> value, long lease = 0, CancellationToken cancellationToken = default) =>
        (await TransactAsync(
            StoreTransaction.Empty.Then(new StorePut(key, value, lease)), cancellationToken)).Revision;

    /// <summary>Makes or replaces several keys, at one revision (the multi-put of TOCS'13 4.4).</summary>
    public async ValueTask<long> PutManyAsync(
        ImmutableArray<KeyValuePair<StoreKey, ReadOnlyMemory<byte>>> pairs,
        CancellationToken cancellationToken = default) =>
        (await TransactAsync(
            StoreTransaction.Empty.Then([.. pairs.Select(static pair => new StorePut(pair.Key, pair.Value))]),
            cancellationToken)).Revision;

    /// <summary>Deletes the keys of a range, at one revision.</summary>
    public async ValueTask<StoreDeletion> DeleteAsync(
        StoreRange range, CancellationToken cancellationToken = default)
    {
        var result = await TransactAsync(StoreTransaction.Empty.Then(new StoreDelete(range)), cancellationToken);
        return new StoreDeletion(result.Revision, ((DeleteAnswer)result.Answers[0]).Count);
    }

    /// <summary>Writes a key if its newest put has a revision.</summary>
    /// <param name="expected">0: the key is absent.</param>
    public async ValueTask<StoreTest> TestAndSetAsync(
        StoreKey key, long expected, ReadOnlyMemory<byte> value, CancellationToken cancellationToken = default)
    {
        var result = await TransactAsync(
            StoreTransaction.Empty.If(StoreCondition.Revision(key, Relation.Equal, expected))
                .Then(new StorePut(key, value)),
            cancellationToken);
        return new StoreTest(result.Succeeded, result.Revision);
    }

    /// <summary>Decides the conditions and does one of the branches, in one step at one revision.</summary>
    /// <exception cref="ArgumentException">A branch changes a key twice, or a lease is below 0.</exception>
    /// <exception cref="StoreException">A lease has ended, a key of which something is to be kept is absent, a revision
    /// cannot be read, the quota is reached, or the transaction is too large: it did nothing.</exception>
    /// <exception cref="StoreContendedException">The values that it compares changed again and again.</exception>
    /// <exception cref="StoreInDoubtException">Whether it took effect is not known here;
    /// <see cref="ResolveAsync"/> finds out.</exception>
    /// <exception cref="StoreAnswerLostException">The transaction took effect, and a value of its answer could not be
    /// read.</exception>
    public async ValueTask<StoreResult> TransactAsync(
        StoreTransaction transaction, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        RequireUsable();
        var plan = TransactionPlan.Of(transaction);
        ImmutableArray<StoredValue>? values = null;
        for (var (attempt, tooOld) = (1, 0); ; attempt++)
        {
            var (guards, holds) = await DecideValuesAsync(plan, cancellationToken);
            var inline = tooOld >= AttemptsBeforeInline && _writer.FitInline(plan.Values, plan.KeyBytes);
            values ??= await _writer.PlaceAsync(plan.Values, inline, cancellationToken);
            var record = new TransactRecord(values.Value, guards, plan.ToBranches(holds));
            var outcome = await UpdateAsync(Mutators.Transact, record, cancellationToken);
            if (outcome.Verdict is Verdict.ValuesTooOld or Verdict.Changed)
            {
                if (attempt == MostAttempts) throw new StoreContendedException(MostAttempts);
                if (outcome.Verdict == Verdict.Changed) continue;
                values = null;
                tooOld++;
                continue;
            }

            Require(outcome);
            return await AnswerAsync(transaction, outcome, cancellationToken);
        }
    }

    /// <summary>Finds out what became of a write that ended in doubt, of this process. It never writes it again. May be
    /// repeated while the fate is unknown.</summary>
    // K13: by its place, which the revisions have. A second test and set meets its own first: "another one won".
    public async ValueTask<StoreFate> ResolveAsync(
        StoreInDoubtException doubt, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(doubt);
        RequireUsable();
        var fate = await _tango.ResolveUpdateAsync(doubt.Doubt, cancellationToken);
        switch (fate.Fate)
        {
            case UpdateFate.NotWritten:
                return new StoreFate(StoreOutcome.NotWritten);
            case UpdateFate.Unknown:
                return new StoreFate(StoreOutcome.Unknown);
        }

        var state = await StateAsync(default, cancellationToken);
        if (state.FindRevision(fate.Place!.Value) is { } revision) return new StoreFate(StoreOutcome.Done, revision);
        // Else a pin or a lease that was made is told as refused.
        if (!doubt.ChangesKeys) return new StoreFate(StoreOutcome.Decided);
        return new StoreFate(state.Knows(fate.Place.Value) ? StoreOutcome.NothingChanged : StoreOutcome.Unknown);
    }

    // K8: the log has no values to compare. The record names what was read, and is decided only if that still holds.
    private async ValueTask<(ImmutableArray<Guard> Guards, IReadOnlyDictionary<ValueCondition, bool> Holds)>
        DecideValuesAsync(TransactionPlan plan, CancellationToken cancellationToken)
    {
        var holds = new Dictionary<ValueCondition, bool>(ReferenceEqualityComparer.Instance);
        if (plan.ValueConditions.IsEmpty) return ([], holds);
        return await ReadAsync(default, (state, valueOf) =>
        {
            var guards = ImmutableArray.CreateBuilder<Guard>();
            foreach (var condition in plan.ValueConditions)
            {
                // All values are asked for, also where one of them has decided.
                var found = state.Table.Range(condition.Range).Select(one => condition.Relation.Holds(
                    valueOf(one.Key, one.Version).Span.SequenceCompareTo(condition.Operand.Span))).ToArray();
                holds[condition] = found.Length > 0 && Array.TrueForAll(found, static holds => holds);
                guards.Add(TransactionRules.Read(state.Table, condition.Range));
            }

            return (guards.DrainToImmutable(), (IReadOnlyDictionary<ValueCondition, bool>)holds);
        }, cancellationToken);
    }

    private async ValueTask<StoreResult> AnswerAsync(
        StoreTransaction transaction, Outcome outcome, CancellationToken cancellationToken)
    {
        var branch = new BranchOutcome(outcome.Succeeded, outcome.Steps);
        var revision = outcome.After.Revision;
        var wanted = new List<(StoreKey Key, StoreVersion Version)>();
        var answers = TransactionAnswers.Of(transaction, branch, revision, (key, version) =>
        {
            wanted.Add((key, version));
            return default;
        });
        if (wanted.Count == 0) return new StoreResult(outcome.Succeeded, revision, answers);
        try
        {
            var values = await ValuesAsync(wanted, cancellationToken);
            answers = TransactionAnswers.Of(transaction, branch, revision, (_, version) => values[version.Place]);
            return new StoreResult(outcome.Succeeded, revision, answers);
        }
        catch (Exception e) when (e is not StoreException)
        {
            // The transaction took effect: its caller must not take another failure for its own.
            throw new StoreAnswerLostException(revision, e);
        }
    }
}
