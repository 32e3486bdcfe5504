using System.Runtime.CompilerServices;
using Tango.Ledgers.Directory;
using Tango.Ledgers.Reading;
using Tango.Ledgers.Records;

namespace Tango.Ledgers;

/// <summary>Reads a ledger, open or closed, and disturbs no writer. Safe for concurrent use.</summary>
public sealed class LedgerReader
{
    // Records of the log that one read asks for.
    private const int Batch = 32;

    private static readonly Spine s_empty = new(-1, 0, default, [[], [], []]);

    private readonly ICorfuLog _log;
    private readonly LedgerDirectory _directory;
    private readonly SlotPolls _polls;
    private readonly TimeProvider _time;
    private readonly StreamId _stream;
    private readonly SpineReader _spines;
    private readonly SemaphoreSlim _one = new(1, 1);

    // Guarded by _one. Null: the ledger is closed, or was not played yet.
    private SlotPlayer? _player;

    // The ledger as it was when this reader last asked.
    private volatile View _view;

    internal LedgerReader(ICorfuLog log, LedgerDirectory directory, SlotPolls polls, TimeProvider time, LedgerRow row)
    {
        (_log, _directory, _polls, _time) = (log, directory, polls, time);
        _stream = LedgerStreams.OfSlot(directory.ObjectId, row.Slot);
        _spines = new SpineReader(log, row.Key);
        _view = new View(row, s_empty, -1, 0, false, []);
    }

    /// <summary>The ledger as this reader last asked.</summary>
    public LedgerMetadata Metadata
    {
        get
        {
            var view = _view;
            return view.Row.ToMetadata() with { IsClosed = view.IsClosed, LastEntry = view.Last, Length = view.Length };
        }
    }

    /// <summary>Whether the ledger had its end when this reader last asked.</summary>
    public bool IsClosed => _view.IsClosed;

    /// <summary>The last entry of a closed ledger, or the last confirmed one when this reader last asked; -1:
    /// none.</summary>
    public long LastConfirmed => _view.Last;

    /// <summary>Bytes of the entries up to <see cref="LastConfirmed"/>.</summary>
    public long Length => _view.Length;

    /// <summary>Asks the log for the last confirmed entry: it is at or above all that was acknowledged before this
    /// call. Every later recovery finds it.</summary>
    public async ValueTask<long> ReadLastConfirmedAsync(CancellationToken cancellationToken = default) =>
        (await AskAsync(cancellationToken)).Last;

    // The last entry and whether the ledger is closed are of one view: another caller may ask beside this one.
    private async ValueTask<View> AskAsync(CancellationToken cancellationToken)
    {
        await _one.WaitAsync(cancellationToken);
        try
        {
            if (!_view.IsClosed) await PlayAsync(cancellationToken);
            return _view;
        }
        finally
        {
            _one.Release();
        }
    }

    /// <summary>Waits for an entry to be confirmed.</summary>
    /// <param name="timeout">Bounds the wait. Questions to the log have limits of their own.</param>
    /// <returns>Null: it was not in time, or the ledger is closed below it.</returns>
    public async ValueTask<LedgerEntry?> WaitForAsync(
        long entry, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(entry);
        using var late = new CancellationTokenSource(timeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, late.Token);
        LogPosition? newest = null;
        try
        {
            while (entry > _view.Last && await AskAsync(cancellationToken) is var view && entry > view.Last)
            {
                if (view.IsClosed) return null;
                newest = await _polls.WaitAsync(_stream, newest, either.Token);
            }
        }
        catch (OperationCanceledException) when (late.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            return null;
        }

        await foreach (var found in ReadRangeAsync(entry, entry, cancellationToken)) return found;
        return null;
    }

    /// <summary>Reads confirmed entries, both bounds included.</summary>
    /// <exception cref="LedgerException">The range ends above <see cref="LastConfirmed"/>, or the ledger was
    /// deleted.</exception>
    public IAsyncEnumerable<LedgerEntry> ReadAsync(
        long first, long last, CancellationToken cancellationToken = default)
    {
        RequireRange(first, last);
        var view = _view;
        if (last > view.Last) throw Missing(view, last);
        return ReadRangeAsync(first, last, cancellationToken);
    }

    /// <summary>Reads entries that the log has, confirmed or not: a recovery may decide that a later one is not of the
    /// ledger.</summary>
    /// <exception cref="LedgerException">An entry is not in the log, or behind the end of the ledger.</exception>
    public async IAsyncEnumerable<LedgerEntry> ReadUnconfirmedAsync(
        long first, long last, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        RequireRange(first, last);
        if (last > _view.Last) await ReadLastConfirmedAsync(cancellationToken);
        var next = first;
        await foreach (var entry in ReadRangeAsync(first, last, cancellationToken))
        {
            next = entry.Id + 1;
            yield return entry;
        }

        if (next <= last)
            throw new LedgerException(LedgerError.NoSuchEntry, $"Ledger {_view.Row.Id} has no entry {next} here.");
    }

    /// <summary>Reads entries as they are confirmed, from one on. Ends when the ledger is closed and read to its
    /// end.</summary>
    public async IAsyncEnumerable<LedgerEntry> FollowAsync(
        long from, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(from);
        LogPosition? newest = null;
        while (true)
        {
            var view = await AskAsync(cancellationToken);
            if (from <= view.Last)
            {
                await foreach (var entry in ReadRangeAsync(from, view.Last, cancellationToken)) yield return entry;
                from = view.Last + 1;
            }
            else if (view.IsClosed)
            {
                yield break;
            }
            else
            {
                newest = await _polls.WaitAsync(_stream, newest, cancellationToken);
            }
        }
    }

    /// <summary>Reads what a closed ledger is, for a reader that has just been opened.</summary>
    internal async ValueTask OpenAsync(CancellationToken cancellationToken)
    {
        await _one.WaitAsync(cancellationToken);
        try
        {
            if (_view.Row.IsClosed) await ReloadAsync(cancellationToken);
            else await PlayAsync(cancellationToken);
        }
        finally
        {
            _one.Release();
        }
    }

    private static void RequireRange(long first, long last)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(first);
        ArgumentOutOfRangeException.ThrowIfLessThan(last, first);
    }

    private static LedgerException Missing(View view, long id) => view.IsClosed
        ? new LedgerException(LedgerError.NoSuchEntry,
            $"Ledger {view.Row.Id} ends at entry {view.Last}, and has no entry {id}.")
        : new LedgerException(LedgerError.EntryNotConfirmed,
            $"Entry {id} of ledger {view.Row.Id} was not confirmed when this reader last asked.");

    private async ValueTask PlayAsync(CancellationToken cancellationToken)
    {
        LedgerState state;
        Spine? spine = null;
        try
        {
            _player ??= await SlotPlayer.OpenAsync(_log, _stream, _view.Row.Key, _spines, cancellationToken);
            await _player.PlayAsync(cancellationToken);
            state = _player.State;
            if (state.End is { Spine: { } closing }) spine = await _spines.ReadAsync(closing, cancellationToken);
        }
        catch (LogTrimmedException)
        {
            // B15: the ledger is closed, and was moved or deleted.
            _player = null;
            if (!await ReloadAsync(cancellationToken)) throw;
            return;
        }
        catch (Exception e) when (e is not (OperationCanceledException or LogUnavailableException))
        {
            // The player has passed the record that it could not decode, which may be the end (B2): the next question
            // meets it again.
            _player = null;
            throw;
        }

        if (spine is not null)
        {
            _view = new View(_view.Row, spine, state.Last, state.Length, true, []);
        }
        else if (state is { IsHandedOn: true, End: null })
        {
            await ReloadAsync(cancellationToken);
        }
        else
        {
            var isClosed = state.End is not null;
            _view = new View(_view.Row, state.Edge.ToSpine(default), state.Last, state.Length, isClosed,
                isClosed ? [] : [.. state.Ahead]);
        }
    }

    /// <summary>Asks the directory, under _one.</summary>
    /// <returns>False: the ledger is open.</returns>
    private async ValueTask<bool> ReloadAsync(CancellationToken cancellationToken)
    {
        for (long? trimmed = null; ;)
        {
            var row = await _directory.FindAsync(_view.Row.Id, cancellationToken);
            if (row is null || !row.IsSame(_view.Row)) throw LedgerException.NotFound(_view.Row.LedgerId);
            if (!row.IsClosed) return false;
            try
            {
                var spine = row.Spine is { } position
                    ? await _spines.ReadAsync(new LogPosition(position), cancellationToken)
                    : s_empty;
                _view = new View(row, spine, row.Last, row.Length, true, []);
                return true;
            }
            catch (LogTrimmedException) when (row.Spine != trimmed)
            {
                // B15: moved or deleted since the directory was asked.
                trimmed = row.Spine;
            }
        }
    }

    private async IAsyncEnumerable<LedgerEntry> ReadRangeAsync(
        long first, long last, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (first <= last)
        {
            var view = _view;
            var (records, trimmed) = await ReadRecordsAsync(view, first, last, cancellationToken);
            foreach (var record in records)
            {
                for (; first <= last && first < record.First + record.Data.Length; first++)
                    yield return new LedgerEntry(first, record.Data[(int)(first - record.First)]);
            }

            if (trimmed is not null && Planted.Is("trim-is-told-to-readers")) throw trimmed;
            if (trimmed is not null && records.Count == 0) await GoOnAsync(view, trimmed, cancellationToken);
            else if (records.Count == 0) yield break;
        }
    }

    /// <summary>The records of the first entries of a range, up to one that is trimmed.</summary>
    private async ValueTask<(List<EntriesRecord> Records, LogTrimmedException? Trimmed)> ReadRecordsAsync(
        View view, long first, long last, CancellationToken cancellationToken)
    {
        var records = new List<EntriesRecord>();
        try
        {
            var ranges = await _spines.FindAsync(view.Root, view.Ahead, first, last, Batch, cancellationToken);
            var recent = _player?.Recent;
            var kept = ranges.ToDictionary(static range => range.Position, range => recent?.Find(range.Position));
            ImmutableArray<LogPosition> positions =
                [.. kept.Where(static pair => pair.Value is null).Select(static pair => pair.Key)];
            var results = await _log.ReadManyAsync(positions, cancellationToken: cancellationToken);
            var read = results.ToDictionary(static result => result.Position);
            foreach (var range in ranges)
            {
                if (kept[range.Position] is { } known)
                {
                    records.Add(known);
                    continue;
                }

                var result = read[range.Position];
                if (result.State == PageState.Trimmed)
                    throw new LogTrimmedException($"Ledger {view.Row.Id}, entry {range.First}", range.Position);
                if (!result.IsData || LedgerRecord.Decode(result.Entry!.Payload) is not EntriesRecord entries
                    || entries.Key != view.Row.Key || entries.First != range.First)
                {
                    throw new TangoFormatException(
                        $"Ledger {view.Row.Id} has no entry {range.First} at {range.Position}");
                }

                records.Add(entries);
            }
        }
        catch (LogTrimmedException e)
        {
            return (records, e);
        }

        return (records, null);
    }

    /// <summary>The ledger was moved, or deleted (B15).</summary>
    private async ValueTask GoOnAsync(View view, LogTrimmedException trimmed, CancellationToken cancellationToken)
    {
        await _one.WaitAsync(cancellationToken);
        try
        {
            if (_view.Row.Spine != view.Row.Spine || _view.Row.IsClosed != view.Row.IsClosed) return;
            if (!await ReloadAsync(cancellationToken)) throw trimmed;
            if (view.Row.IsClosed && _view.Row.Spine == view.Row.Spine) throw trimmed;
            _player = null;
        }
        finally
        {
            _one.Release();
        }
    }

    /// <param name="Root">Names the entries up to Last, and perhaps more.</param>
    /// <param name="Ahead">Records above a gap.</param>
    private sealed record View(
        LedgerRow Row, Spine Root, long Last, long Length, bool IsClosed, ImmutableArray<SpineRange> Ahead);
}
