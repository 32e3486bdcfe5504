using Tango.Ledgers.Records;

namespace Tango.Ledgers.Writing;

/// <summary>A writer's entries on their way: batches, each an entry of the log, many of them in flight, acknowledged in
/// the order of ids.</summary>
/// <remarks>
/// 1. An entry joins a batch that waits, or begins one.
/// 2. A batch is sent when the window has room.
/// 3. Its position is known: <see cref="FenceWatch"/> accounts for the slot up to there.
/// 4. It is acknowledged, when all ids below are, and nothing of the slot below is unaccounted for.
/// 5. After each 256 batches a spine names them.
/// </remarks>
internal sealed class AppendWindow
{
    private const int MaxBatchEntries = 4096;

    // Memory of an entry beside its data, roughly.
    private const int EntryCost = 128;

    // A given id is at most so far above the last acknowledged one: each above a gap takes memory here, at readers and
    // in a recovery.
    private const int MostAhead = 1 << 16;

    private readonly Lock _gate = new();
    private readonly SlotLog _slot;
    private readonly LogPlace _key;
    private readonly LedgerOptions _options;
    private readonly LoopContext _loops;

    // Guarded by _gate, as all below.
    private readonly FenceWatch _watch;

    // Names what is acknowledged, and nothing else (B13).
    private readonly SpineEdge _edge = new();

    // By first id: what is not acknowledged. After a failure too, since the spine's floor lies below them.
    private readonly Dictionary<long, Batch> _taken = [];
    private readonly Queue<Batch> _waiting = new();

    // Takes more entries until it is sent.
    private Batch? _open;
    private int _inFlight;
    private long _bytesInFlight;
    private long _bytesWaiting;
    private LogPosition? _spine;
    private bool _isWritingSpine;

    // Batches that no spine names, when the next is written: above 256 after a failure, which would repeat at once.
    private int _spineDue = Spine.FanOut;
    private bool _isReading;

    // B5: not null: nothing is acknowledged any more. Else 6 is acknowledged, 5 is lost, and a recovery ends at 4.
    private LedgerException? _end;
    private TaskCompletionSource? _idle;

    public AppendWindow(SlotLog slot, LogPlace key, LedgerOptions options, LoopContext loops)
    {
        (_slot, _key, _options, _loops) = (slot, key, options, loops);
        _watch = new FenceWatch(key.Position);
    }

    /// <summary>The highest id that was handed over; -1: none.</summary>
    public long LastPushed
    {
        get
        {
            lock (_gate) return field;
        }

        private set;
    } = -1;

    /// <summary>The last id that is acknowledged, with all below it; -1: none.</summary>
    public long LastConfirmed
    {
        get
        {
            lock (_gate) return _edge.Through;
        }
    }

    public long Length
    {
        get
        {
            lock (_gate) return _edge.Length;
        }
    }

    // Invariant: a spine of what may be acknowledged at once, beside what no spine names yet, fits into an entry of the
    // log. Else the ledger can be neither closed nor recovered.
    private int MaxAhead => Math.Min(MostAhead, RoomFor(_slot.Log.MaxPayload) - _options.MaxAppendsInFlight);

    private int Largest => _slot.Log.MaxPayload - LedgerRecord.Overhead;

    private bool IsIdle => _inFlight == 0 && !_isWritingSpine && !_isReading;

    /// <summary>Batches that a spine may name beside those of its full levels.</summary>
    public static int RoomFor(int maxPayload) => (maxPayload / Spine.MaxRangeBytes) - (3 * Spine.FanOut);

    /// <summary>Steps 1 to 4 for one entry.</summary>
    /// <param name="id">Null: the next.</param>
    public Task<long> AppendAsync(long? id, ReadOnlyMemory<byte> data)
    {
        if (data.Length > Largest)
            throw new LedgerException(LedgerError.EntryTooLarge,
                $"An entry of {data.Length} bytes; an entry of this log has room for {Largest}.");
        lock (_gate)
        {
            if (_end is not null) throw new LedgerException(_end.Error, _end.Message, _end);
            if (_bytesWaiting > 0 && _bytesWaiting + data.Length + EntryCost > _options.MaxBytesWaiting)
                throw new LedgerException(LedgerError.WriterBusy,
                    $"Ledger {_slot.Id}: {_bytesWaiting} bytes wait to be sent already.");
            var next = id ?? LastPushed + 1;
            if (next <= _edge.Through || _taken.ContainsKey(next))
                throw new LedgerException(
                    LedgerError.DuplicateEntry, $"Ledger {_slot.Id}: entry {next} was handed over before.");
            if (id is not null && next - _edge.Through > MaxAhead)
                throw new LedgerException(LedgerError.WriterBusy,
                    $"Ledger {_slot.Id}: entry {next} is more than {MaxAhead} above the last acknowledged one.");
            LastPushed = Math.Max(LastPushed, next);
            _bytesWaiting += data.Length + EntryCost;

            // The caller may be cancelled, and use its buffer again, while the entry is still under way.
            var answer = BatchFor(next, id is null, data.Length).Add(data.ToArray());
            Send();
            return answer;
        }
    }

    /// <summary>Takes no more entries; those that are not acknowledged fail. Waits until all appends have
    /// ended.</summary>
    /// <returns>The spine of what was acknowledged, how the writer has ended, and whether entries that are not
    /// acknowledged may be in the log.</returns>
    public async ValueTask<(Spine Spine, LedgerException End, bool HasMore)> StopAsync(
        CancellationToken cancellationToken)
    {
        Task idle;
        lock (_gate)
        {
            // B14: an entry in flight is not acknowledged after the close has named the last one.
            Fail(LedgerException.Closed(_slot.Id));
            idle = IsIdle ? Task.CompletedTask : (_idle ??= NewIdle()).Task;
        }

        await idle.WaitOrCancelAsync(cancellationToken);
        lock (_gate)
            return (_edge.ToSpine(Floor()), _end!, _taken.Values.Any(static batch => batch.Above is not null));
    }

    /// <summary>Appends the record that closes the ledger, after <see cref="StopAsync"/>.</summary>
    /// <returns>Null: the ledger's end stands below.</returns>
    public async ValueTask<LogPosition?> CloseAsync(Spine spine, CancellationToken cancellationToken)
    {
        long number;
        lock (_gate) number = _watch.Begin();
        try
        {
            var (position, before) = await _slot.AppendAsync(new CloseRecord(_key, spine), cancellationToken);
            lock (_gate) _watch.End(number, position, before);
            while (true)
            {
                SlotGap? gap;
                lock (_gate) gap = _watch.Advance();
                if (gap is null) return position;
                if (await FenceWatch.ReadAsync(_slot, _key, gap, cancellationToken)) return null;
                lock (_gate) _watch.Account(gap.Own);
            }
        }
        finally
        {
            lock (_gate) _watch.Lose(number);
        }
    }

    // Step 1.
    private Batch BatchFor(long id, bool mayJoin, int bytes)
    {
        if (mayJoin && _open is { Count: < MaxBatchEntries } open && open.Bytes + bytes <= _options.MaxBatchBytes
            && open.Bytes + bytes + (EntriesRecord.EntryOverhead * open.Count) <= Largest)
            return open;
        var batch = new Batch(id);
        _taken.Add(id, batch);
        _waiting.Enqueue(batch);
        _open = mayJoin ? batch : null;
        return batch;
    }

    // Step 2.
    private void Send()
    {
        while (_end is null && _inFlight < _options.MaxAppendsInFlight && _waiting.TryPeek(out var batch)
            && (_inFlight == 0 || _bytesInFlight + batch.Bytes <= _options.MaxBytesInFlight))
        {
            _waiting.Dequeue();
            if (_open == batch) _open = null;
            _inFlight++;
            _bytesInFlight += batch.Bytes;
            _bytesWaiting -= batch.Bytes + ((long)EntryCost * batch.Count);
            batch.Above = _watch.Known;
            var number = _watch.Begin();
            var record = new EntriesRecord(_key, batch.First, _spine, batch.Take());
            _loops.Start(() => SendAsync(batch, record, number));
        }
    }

    private async Task SendAsync(Batch batch, EntriesRecord record, long number)
    {
        LedgerException? failed = null;
        (LogPosition Position, ImmutableArray<LogPosition> Before) at = default;
        try
        {
            at = await _slot.AppendAsync(record);
        }
        catch (LedgerException e)
        {
            failed = e;
        }
        catch (Exception e)
        {
            // Not in the log; but entries that follow may be.
            failed = new LedgerException(LedgerError.LedgerClosed,
                $"Ledger {_slot.Id}: the log did not take an entry, so that the writer has ended.", e);
        }

        lock (_gate)
        {
            _inFlight--;
            _bytesInFlight -= batch.Bytes;
            if (failed is null)
            {
                // Step 3.
                _watch.End(number, at.Position, at.Before);
                batch.Position = at.Position;
                if (Planted.Is("acknowledged-out-of-order")) batch.Acknowledge();
            }
            else
            {
                _watch.Lose(number);
                Fail(failed);
            }

            Advance();
        }
    }

    private void Advance()
    {
        if (!_isReading && _end is null && _watch.Advance() is { } gap)
        {
            _isReading = true;
            _loops.Start(() => ReadAsync(gap));
        }

        Acknowledge();
        Send();
        if (IsIdle) _idle?.TrySetResult();
    }

    // Step 4.
    private void Acknowledge()
    {
        while (_end is null && _taken.TryGetValue(_edge.Through + 1, out var next) && next.Position is { } position
            && (position <= _watch.Through || Planted.Is("fence-not-looked-for")))
        {
            _taken.Remove(next.First);
            _edge.Add(next.Count, position, next.Bytes);
            next.Acknowledge();
        }

        // Step 5.
        if (_end is not null || _isWritingSpine || _edge.Batches < _spineDue) return;
        _isWritingSpine = true;
        var spine = _edge.ToSpine(Floor());
        var number = _watch.Begin();
        _loops.Start(() => WriteSpineAsync(spine, number));
    }

    /// <summary>Entries that are not acknowledged, and the ledger's end, stand at or above it.</summary>
    private LogPosition Floor()
    {
        var floor = _watch.Through.Next;
        foreach (var batch in _taken.Values)
        {
            // A batch that waits gets a position above all that is known.
            if ((batch.Position ?? batch.Above?.Next) is { } lowest) floor = LogPosition.Min(floor, lowest);
        }

        return floor;
    }

    private async Task WriteSpineAsync(Spine spine, long number)
    {
        (LogPosition Position, ImmutableArray<LogPosition> Before)? at = null;
        try
        {
            at = await _slot.AppendAsync(new SpineRecord(_key, spine));
        }
        catch (Exception)
        {
            // Readers go on from the last one; a later one names all.
        }

        lock (_gate)
        {
            _isWritingSpine = false;
            if (at is { } written)
            {
                _watch.End(number, written.Position, written.Before);
                _edge.Follow(spine, written.Position);
                _spine = written.Position;
                _spineDue = Spine.FanOut;
            }
            else
            {
                _watch.Lose(number);
                _spineDue = _edge.Batches + Spine.FanOut;
            }

            Advance();
        }
    }

    private async Task ReadAsync(SlotGap gap)
    {
        LedgerException? failed = null;
        try
        {
            if (await FenceWatch.ReadAsync(_slot, _key, gap, CancellationToken.None))
                failed = LedgerException.Fenced(_slot.Id);
        }
        catch (Exception e)
        {
            failed = LedgerException.InDoubt(_slot.Id, e);
        }

        lock (_gate)
        {
            _isReading = false;
            if (failed is null) _watch.Account(gap.Own);
            else Fail(failed);
            Advance();
        }
    }

    private void Fail(LedgerException reason)
    {
        if (_end is not null) return;
        _end = reason;
        foreach (var batch in _taken.Values) batch.Fail(reason);
        _waiting.Clear();
        (_open, _bytesWaiting) = (null, 0);
    }

    private static TaskCompletionSource NewIdle() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Entries with consecutive ids, from the first on.</summary>
    private sealed class Batch(long first)
    {
        private readonly List<TaskCompletionSource<long>> _answers = [];
        private List<ReadOnlyMemory<byte>> _data = [];

        public long First => first;

        public int Count => _answers.Count;

        public int Bytes { get; private set; }

        /// <summary>When it is sent: the log grants it a higher position.</summary>
        public LogPosition? Above { get; set; }

        public LogPosition? Position { get; set; }

        public Task<long> Add(ReadOnlyMemory<byte> data)
        {
            var answer = new TaskCompletionSource<long>(TaskCreationOptions.RunContinuationsAsynchronously);
            _answers.Add(answer);
            _data.Add(data);
            Bytes += data.Length;
            return answer.Task;
        }

        public ImmutableArray<ReadOnlyMemory<byte>> Take()
        {
            ImmutableArray<ReadOnlyMemory<byte>> data = [.. _data];
            _data = [];
            return data;
        }

        public void Acknowledge()
        {
            for (var i = 0; i < _answers.Count; i++) _answers[i].TrySetResult(first + i);
        }

        public void Fail(LedgerException reason)
        {
            foreach (var answer in _answers) answer.TrySetException(reason);
        }
    }
}
