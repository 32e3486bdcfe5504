namespace Salus.Store.Files;

/// <summary>The files of one region and the checkpoints that need them: the newest ones, snapshots and the stable
/// point. Pure. A file is needed while a kept checkpoint refers to it.</summary>
public sealed class FileBook
{
    private readonly Dictionary<long, CheckpointState> _kept = [];

    /// <summary>Numbers of the checkpoints that are kept, ascending.</summary>
    public IReadOnlyList<long> Kept => [.. _kept.Keys.Order()];

    public void Keep(CheckpointState state) => _kept[state.File.Number] = state;

    /// <summary>The checkpoint is no longer needed: the caller has a certificate of all members that says so
    /// (S19).</summary>
    public void Release(long checkpoint) => _kept.Remove(checkpoint);

    /// <summary>Null: the checkpoint is not kept, or is not known here.</summary>
    public CheckpointState? Find(long checkpoint) => _kept.GetValueOrDefault(checkpoint);

    public bool IsNeeded(long file) => _kept.ContainsKey(file) || _kept.Values.Any(state => Uses(state, file));

    /// <summary>Files that no kept checkpoint refers to, ascending. None below the oldest kept one is left out, and
    /// none above the newest is in it: such a file is being made.</summary>
    public IReadOnlyList<long> Unneeded(IEnumerable<long> existing)
    {
        if (_kept.Count == 0) return [];
        var newest = _kept.Keys.Max();
        return [.. existing.Where(file => file < newest && !IsNeeded(file)).Order()];
    }

    private bool Uses(CheckpointState state, long file)
    {
        // The data of a discard is needed by every older checkpoint that is kept (S23).
        if (Planted.Is("discard-frees-at-once") && state.File.Number < _kept.Keys.Max()) return false;
        return state.Files.Any(use => use.File == file);
    }
}
