namespace Corfu.Checkers;

/// <summary>R18: the low-water marks of the objects that have keys, as the writes of the log make them. A model of its
/// own: for each write it looks at all keys.</summary>
/// <param name="age">In positions.</param>
/// <param name="ticketKey">See <see cref="TxHistory.TicketKey"/>.</param>
internal sealed class VersionMarks(long age, string? ticketKey)
{
    // By object and key: the position of the key's last write, while it is remembered.
    private readonly Dictionary<string, Dictionary<string, long>> _versions = [];

    // By object: nothing is known of keys that were written there or below.
    private readonly Dictionary<string, long> _marks = [];

    /// <summary>The transaction takes effect, the writes that are refused too.</summary>
    public void Write(TxOp tx, long position)
    {
        foreach ((string key, long value) in tx.Writes)
        {
            if (ObjectOf(key) is not { } name) continue;
            if (!_versions.TryGetValue(name, out Dictionary<string, long>? keys)) _versions[name] = keys = [];
            keys[name == key ? $"{value}" : key] = position;
            foreach ((string old, long at) in keys.Where(version => version.Value < position - age).ToList())
            {
                keys.Remove(old);
                _marks[name] = Math.Max(at, _marks.GetValueOrDefault(name, -1));
            }
        }
    }

    /// <summary>Whether it read a key of an object that may have been written above its snapshot.</summary>
    public bool IsTooOld(TxOp tx)
    {
        if (tx.SnapshotEnd is not { } end) return false;
        return tx.Reads.Select(static read => read.Key).Concat(tx.Asked).Any(
            key => ObjectOf(key) is { } name && _marks.GetValueOrDefault(name, -1) >= end);
    }

    // Registers are written as a whole.
    private string? ObjectOf(string key)
    {
        int slash = key.IndexOf('/', StringComparison.Ordinal);
        return slash > 0 ? key[..slash] : key == ticketKey ? key : null;
    }
}
