namespace Salus.Region.Body;

internal sealed partial class RegionBody
{
    public long Unwritten
    {
        get
        {
            lock (_gate) return _active.Bytes;
        }
    }

    public bool IsCutDue => _ports.Budget.IsDue(Unwritten);

    public long NewestFile { get; private set; }

    public ImmutableArray<CheckpointName> Written
    {
        get
        {
            lock (_gate) return _written;
        }
    }

    public string? FileFault => _work.Fault;

    public Task<CheckpointName> CutAsync(CutRecord cut, long index, Hash128 chain, BatchName batch) =>
        TurnAsync(cut.File, [], index, chain, batch);

    public Task<CheckpointName> CompactAsync(CompactRecord compact, long index, Hash128 chain, BatchName batch) =>
        TurnAsync(compact.Output, compact.Inputs, index, chain, batch);

    public ImmutableArray<long> ProposeInputs()
    {
        lock (_gate) return CompactionPolicy.Choose(_state, _sizes);
    }

    public Task<ImmutableArray<long>> ReleaseAsync(ImmutableArray<CheckpointName> kept) =>
        _work.RunAsync(() => ValueTask.FromResult(Release(kept)));

    private Task<CheckpointName> TurnAsync(long file, ImmutableArray<long> inputs, long index, Hash128 chain,
        BatchName batch)
    {
        lock (_gate)
        {
            if (index <= _lastTurn || file <= NewestFile || batch != _last)
            {
                throw new InvalidOperationException(
                    $"File {file} of {Region} at index {index}, behind {batch}, is not the next one: {NewestFile} at "
                    + $"{_lastTurn}, behind {_last}.");
            }

            (_lastTurn, NewestFile) = (index, file);
            var turn = new Turn(new CheckpointTask(new RegionFile(Region, file), index, chain, batch), inputs, _root,
                Planted.Is("cut-at-own-size") ? null : Freeze());
            if (Planted.Is("cut-overtakes-compaction") && inputs.IsEmpty && _work.Count > 0)
            {
                var before = _state;
                return _work.RunAsync(() => WriteAsync(turn, before));
            }

            return _work.RunAsync(() => WriteAsync(turn, _state));
        }
    }

    // Batches committed from here on go to another table.
    private Memtable Freeze()
    {
        var frozen = _active;
        _active = new Memtable(_blocks);
        _frozen = _frozen.Add(frozen);
        return frozen;
    }

    private async ValueTask<CheckpointName> WriteAsync(Turn turn, CheckpointState before)
    {
        if (turn.Table is null)
        {
            lock (_gate) turn = turn with { Table = Freeze(), Root = _root };
        }

        if (await FindKeptAsync(turn) is { } there)
        {
            Install(there, turn.Table);
            return there.Name;
        }

        var input = new CheckpointInput(_ports, before, turn.Table, turn.Inputs);
        CheckpointFile file;
        try
        {
            file = await new CheckpointWriter(_ports.Files)
                .WriteAsync(turn.Task, before, input.ReadAsync(), input.MovedPages);
        }
        catch (MalformedDataException error) when (turn.Table.FindDamaged() is { } block)
        {
            throw new DivergedBodyException($"Block {block} of {Region} is damaged in memory.", error);
        }

        if (file.Name.Root != turn.Root && !Planted.Is("discard-keeps-its-leaf"))
        {
            _ports.Files.Delete(turn.Task.File);
            throw new DivergedBodyException($"The blocks in memory of {Region} do not make its root at index "
                + $"{turn.Task.Index}: memory is damaged.");
        }

        Install(file, turn.Table);
        if (Planted.Is("inputs-freed-before-manifest"))
        {
            foreach (var number in turn.Inputs) Delete(_ports, new RegionFile(Region, number));
        }

        return file.Name;
    }

    // A replay from an older checkpoint comes to files that newer ones refer to: those are not written again.
    private async ValueTask<CheckpointFile?> FindKeptAsync(Turn turn)
    {
        lock (_gate)
        {
            if (!_book.IsNeeded(turn.Task.File.Number)) return null;
        }

        var file = await OpenFileAsync(_ports, turn.Task.File, default);
        return file.State.Index == turn.Task.Index && file.State.Chain == turn.Task.Chain
            && file.State.Batch == turn.Task.Batch && file.Name.Root == turn.Root
            ? file
            : throw new DivergedBodyException($"File {turn.Task.File.Number} of {Region} is of another history.");
    }

    private void Install(CheckpointFile file, Memtable table)
    {
        lock (_gate)
        {
            _state = file.State;
            _frozen = _frozen.Remove(table);
            _book.Keep(file.State);
            _written = _written.Add(file.Name);
            _sizes[file.State.File.Number] = file.Blocks;
            Hold(-table.Bytes);
            DropLeaves();
        }
    }

    private ImmutableArray<long> Release(ImmutableArray<CheckpointName> kept)
    {
        ImmutableArray<RegionFile> unneeded;
        lock (_gate)
        {
            // Before the newest one is written here, this member still needs what it replaces.
            if (kept.IsEmpty || kept[^1].Number > _state.File.Number) return [];
            foreach (var number in _book.Kept)
            {
                if (number < kept[^1].Number && !kept.Any(checkpoint => checkpoint.Number == number))
                    _book.Release(number);
            }

            _written = _written.RemoveAll(checkpoint => checkpoint.Number <= kept[^1].Number);
            foreach (var number in _unread.Keys.Where(number => !kept.Any(checkpoint => checkpoint.Number == number)))
                _unread.Remove(number);
            if (_unread.Count > 0) return [];
            var there = _ports.Files.List().Where(file => file.Region == Region).Select(file => file.Number);
            unneeded = [.. _book.Unneeded(there).Select(number => new RegionFile(Region, number))];
            foreach (var file in unneeded) _sizes.Remove(file.Number);
        }

        foreach (var file in unneeded) Delete(_ports, file);
        return [.. unneeded.Select(file => file.Number)];
    }

    /// <param name="Table">Null: it is frozen when the file is begun, at each member's own time.</param>
    private sealed record Turn(CheckpointTask Task, ImmutableArray<long> Inputs, Hash128 Root, Memtable? Table);
}
