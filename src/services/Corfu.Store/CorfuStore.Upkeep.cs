using Corfu.Store.Index;
using Corfu.Store.Records;
using Corfu.Store.State;
using Corfu.Store.Values;

namespace Corfu.Store;

public sealed partial class CorfuStore
{
    // At most, of a move in its record, besides the key and the value.
    private const int MoveBytes = 64;

    /// <summary>Makes the revisions below one unreadable, except those from the lowest pin on. Versions that no
    /// readable revision shows are dropped with the records that follow, and after the next two checkpoints the log is
    /// not kept for them.</summary>
    /// <param name="waitForDrop">Whether to complete when all of them are dropped.</param>
    /// <returns>False: the store was compacted so far already.</returns>
    /// <exception cref="StoreCompactedException">The store was compacted further.</exception>
    /// <exception cref="StoreRevisionAheadException">The store has not come to the revision.</exception>
    public async ValueTask<bool> CompactAsync(
        long revision, bool waitForDrop = false, CancellationToken cancellationToken = default)
    {
        var outcome = await UpdateAsync(Mutators.Compact, new CompactRecord(revision), cancellationToken);
        if (outcome.Verdict == Verdict.Compacted) throw new StoreCompactedException(revision, outcome.After.Floor);
        Require(outcome);
        var raised = outcome.Succeeded;
        while (waitForDrop && !outcome.After.IsPruned)
        {
            outcome = await UpdateAsync(
                Mutators.Compact, new CompactRecord(outcome.After.Floor), cancellationToken);
            // Another process compacts meanwhile.
            if (outcome.Verdict != Verdict.Compacted) Require(outcome);
        }

        return raised;
    }

    /// <summary>Keeps the newest revision readable under a name, whatever is compacted, and the changes since. A name
    /// that is there moves to the newest revision.</summary>
    /// <returns>The revision.</returns>
    public async ValueTask<long> PinAsync(string name, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        var outcome = await UpdateAsync(Mutators.Pin, new PinRecord(name), cancellationToken);
        Require(outcome);
        return outcome.Number;
    }

    /// <summary>Ends a pin. Without effect if there is none.</summary>
    public async ValueTask UnpinAsync(string name, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        Require(await UpdateAsync(Mutators.Unpin, new UnpinRecord(name), cancellationToken));
    }

    /// <summary>Makes all keys and values what they were at a revision, in one step. No value is written again, and the
    /// revisions between stay. Keys that it writes are of no lease.</summary>
    /// <returns>The store's revision, a new one if a key has changed.</returns>
    /// <exception cref="StoreCompactedException">The revision is compacted.</exception>
    /// <exception cref="StoreRevisionAheadException">The store has not come to it.</exception>
    /// <exception cref="StoreQuotaException">The quota is reached, and the revert puts keys.</exception>
    public async ValueTask<long> RevertAsync(long revision, CancellationToken cancellationToken = default)
    {
        var outcome = await UpdateAsync(Mutators.Revert, new RevertRecord(revision), cancellationToken);
        Require(outcome);
        return outcome.After.Revision;
    }

    /// <summary>Writes values again that stand below a position of the log, so that it can be trimmed further: after
    /// the next two checkpoints it is not kept for the old ones. Revisions stay as they are.</summary>
    /// <remarks>A call that fails or is cancelled may be repeated.</remarks>
    /// <returns>How many versions of keys have their values elsewhere.</returns>
    public async ValueTask<int> MoveValuesAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        var state = await StateAsync(default, cancellationToken);
        // Oldest first: a call that is stopped has helped.
        var old = state.Table.Rows
            .SelectMany(static row => row.Value.Versions.Select(version => (row.Key, Version: version)))
            .Where(one => !one.Version.IsDeleted && one.Version.Place.Position < below.Offset)
            .OrderBy(static one => one.Version.Place);
        var moved = 0;
        var batch = new List<(StoreKey Key, StoreVersion Version)>();
        var bytes = 0;
        foreach (var one in old)
        {
            var size = one.Key.Length + MoveBytes;
            // Versions that a revert or a kept value has made have one value.
            if (batch is not [.., var last] || last.Version.Place != one.Version.Place)
                size += one.Version.Place.Length;
            if (batch.Count > 0 && bytes + size > _writer.EntryBytes)
            {
                moved += await MoveAsync(batch, cancellationToken);
                (batch, bytes) = ([], 0);
            }

            batch.Add(one);
            bytes += size;
        }

        return batch.Count == 0 ? moved : moved + await MoveAsync(batch, cancellationToken);
    }

    private static void RequireName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        for (var i = 0; i < name.Length; i++)
        {
            if (char.IsSurrogatePair(name, i)) i++;
            else if (char.IsSurrogate(name[i])) throw new ArgumentException("A name is no text", nameof(name));
        }
    }

    private async ValueTask<int> MoveAsync(
        List<(StoreKey Key, StoreVersion Version)> batch, CancellationToken cancellationToken)
    {
        for (var attempt = 1; attempt <= MostAttempts; attempt++)
        {
            ImmutableArray<ValuePlace> places = [.. batch.Select(static one => one.Version.Place).Distinct()];
            ImmutableArray<ReadOnlyMemory<byte>> values;
            try
            {
                values = await _values.ReadAsync(places, cancellationToken);
            }
            catch (ValueTrimmedException)
            {
                // Some were superseded, dropped and trimmed meanwhile: those that are left have their places still.
                var state = await StateAsync(default, cancellationToken);
                var left = batch.FindAll(one =>
                    state.Table.Find(one.Key)?.Of(one.Version.Revision)?.Place == one.Version.Place);
                if (left.Count == batch.Count) throw await LostAsync(batch, cancellationToken);
                batch = left;
                if (batch.Count == 0) return 0;
                continue;
            }

            var inline = attempt > AttemptsBeforeInline && _writer.FitInline(
                values, batch.Sum(static one => (long)one.Key.Length + MoveBytes));
            var placed = await _writer.PlaceAsync(values, inline, cancellationToken);
            var moves = batch.ConvertAll(one => new ValueMove(
                one.Key, one.Version.Revision, one.Version.Place, places.IndexOf(one.Version.Place)));
            var outcome = await UpdateAsync(
                Mutators.Move, new MoveRecord(placed, [.. moves]), cancellationToken);
            if (outcome.Verdict == Verdict.ValuesTooOld) continue;
            Require(outcome);
            return (int)outcome.Number;
        }

        throw new StoreContendedException(MostAttempts);
    }
}
