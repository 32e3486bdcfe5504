namespace Salus.Region.Body;

internal sealed partial class RegionBody
{
    public int Blocks => _blocks;

    public int Pages => _tree.Pages;

    public ImmutableArray<long> Missing { get; private set; } = [];

    /// <summary>Numbers of the region's files that kept checkpoints may need; all above are deleted.</summary>
    /// <exception cref="IOException">The folder of the files cannot be read.</exception>
    public static SortedSet<long> FindFiles(BodyPorts ports, RegionKey region, ImmutableArray<CheckpointName> kept)
    {
        var newest = kept.IsEmpty ? 0 : kept[^1].Number;
        var there = new SortedSet<long>();
        foreach (var file in ports.Files.List())
        {
            if (file.Region != region) continue;
            if (file.Number <= newest) there.Add(file.Number);
            else Delete(ports, file);
        }

        return there;
    }

    /// <param name="there">As of <see cref="FindFiles"/>.</param>
    /// <exception cref="MalformedDataException">The checkpoint is damaged, or not the one that is recorded: take its
    /// file from a peer.</exception>
    /// <exception cref="IOException">The checkpoint's file is not there, or cannot be read.</exception>
    public static async ValueTask<RegionBody> OpenAsync(BodyPorts ports, RegionKey region, VolumeGeometry geometry,
        ImmutableArray<CheckpointName> kept, CheckpointName from, SortedSet<long> there)
    {
        if (!from.IsNone && !kept.Contains(from))
            throw new ArgumentException("The checkpoint is not kept.", nameof(from));
        var state = from.IsNone
            ? CheckpointState.None(region, geometry.BlockSize, geometry.PagesOf(region.Region))
            : (await OpenFileAsync(ports, new RegionFile(region, from.Number), from)).State;
        if (state.BlockSize != geometry.BlockSize || state.Pages.Length != geometry.PagesOf(region.Region))
            throw new MalformedDataException($"Checkpoint {from.Number} of {region} is of another geometry.");
        var body = new RegionBody(ports, state, geometry.BlocksOf(region.Region));
        await body.LearnAsync(kept, there);
        return body;
    }

    private static void Delete(BodyPorts ports, RegionFile file)
    {
        ports.Files.Delete(file);
        ports.Index.Drop(file);
    }

    private static async ValueTask<CheckpointFile> OpenFileAsync(
        BodyPorts ports, RegionFile file, CheckpointName expected)
    {
        try
        {
            var opened = await CheckpointFile.OpenAsync(ports.Files, file);
            if (expected.IsNone || opened.Name == expected || Planted.Is("any-checkpoint-counts")) return opened;
        }
        catch (Exception error) when (error is IOException or MalformedDataException or ObjectDisposedException)
        {
            ports.Damaged(file);
            throw;
        }

        ports.Damaged(file);
        throw new MalformedDataException(
            $"File {file.Number} of {file.Region} is not the checkpoint that is recorded: take it from a peer.");
    }

    /// <summary>Whether a kept checkpoint refers to the file, or one that cannot be read may. A closed body knows
    /// no checkpoint that others have made since.</summary>
    public bool Needs(long file)
    {
        lock (_gate) return _held < 0 || _unread.Count > 0 || Missing.Contains(file) || _book.IsNeeded(file);
    }

    /// <summary>A file has come from a peer: what failed for it is tried again.</summary>
    public async ValueTask MendedAsync(long file)
    {
        CheckpointName unread;
        lock (_gate)
        {
            Missing = Missing.Remove(file);
            unread = _unread.GetValueOrDefault(file);
        }

        _work.Retry();
        if (unread.IsNone || await TryOpenAsync(file, unread) is not { } opened) return;
        lock (_gate)
        {
            // Released meanwhile, it stays so.
            if (_unread.Remove(file)) _book.Keep(opened.State);
        }
    }

    // Which files the kept checkpoints need, and how large those of the state are.
    private async ValueTask LearnAsync(ImmutableArray<CheckpointName> kept, SortedSet<long> there)
    {
        var needed = new SortedSet<long>();
        foreach (var checkpoint in kept)
        {
            needed.Add(checkpoint.Number);
            if (!there.Contains(checkpoint.Number)
                || await TryOpenAsync(checkpoint.Number, checkpoint) is not { } opened)
            {
                _unread.Add(checkpoint.Number, checkpoint);
                continue;
            }

            _book.Keep(opened.State);
            foreach (var use in opened.State.Files) needed.Add(use.File);
        }

        foreach (var use in _state.Files)
        {
            if (there.Contains(use.File) && await TryOpenAsync(use.File, default) is { } opened)
                _sizes[use.File] = opened.Blocks;
        }

        Missing = [.. needed.Except(there).Order()];
        // A member of a new generation takes what the recovery has not copied while it serves.
        foreach (var file in Missing) _ports.Missing(new RegionFile(Region, file));
    }

    // Null: damaged or not there, which is reported.
    private async ValueTask<CheckpointFile?> TryOpenAsync(long number, CheckpointName expected)
    {
        try
        {
            return await OpenFileAsync(_ports, new RegionFile(Region, number), expected);
        }
        catch (Exception error) when (error is IOException or MalformedDataException or ObjectDisposedException)
        {
            return null;
        }
    }
}
