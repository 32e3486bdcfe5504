using Tango.Formatting;

namespace Tango;

/// <summary>Which keys of an object a feed tells of. Calls that concern the object as a whole, such as clearing a
/// dictionary, are told whatever the keys are.</summary>
public abstract class ChangeKeys
{
    private ChangeKeys()
    {
    }

    /// <summary>These keys only.</summary>
    /// <typeparam name="TKey">Exactly the key's type; keys of another type are never equal.</typeparam>
    public static ChangeKeys Of<TKey>(params TKey[] keys)
        where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(keys);
        return new Listed([.. keys.Select(static key => ObjectKey.Owning(TangoFormatters.ToBytes(key).ToArray()))]);
    }

    /// <summary>The keys, of type string, that begin with these UTF-16 code units.</summary>
    public static ChangeKeys Prefix(string prefix)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        return new Prefixed(prefix);
    }

    /// <param name="key">As it stands in the log; empty: the whole object.</param>
    /// <exception cref="TangoFormatException">The object's keys are of another type.</exception>
    internal bool Include(ReadOnlyMemory<byte> key) => key.IsEmpty || HasKey(key);

    private protected abstract bool HasKey(ReadOnlyMemory<byte> key);

    private sealed class Listed(HashSet<ObjectKey> keys) : ChangeKeys
    {
        private protected override bool HasKey(ReadOnlyMemory<byte> key) => keys.Contains(new ObjectKey(key.Span));
    }

    private sealed class Prefixed(string prefix) : ChangeKeys
    {
        private protected override bool HasKey(ReadOnlyMemory<byte> key) =>
            CallArguments.ReadKey<string>(key, 0).StartsWith(prefix, StringComparison.Ordinal);
    }
}
