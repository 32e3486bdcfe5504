using Tango.Formatting;

namespace Tango;

/// <summary>Which keys of an object a feed tells of. Calls that concern the object as a whole, such as clearing a
/// dictionary, are told whatever the keys are.</summary>
public abstract class ChangeKeys
{
    private ChangeKeys()
    {
    }

    /// <summary>Selects these keys only.</summary>
    /// <typeparam name="TKey">Exactly the key's type; keys of another type are never equal. A key of several
    /// [VersionKey] parameters is not their tuple: the other overload takes it.</typeparam>
    public static ChangeKeys Of<TKey>(params TKey[] keys)
        where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(keys);
        return new Listed([.. keys.Select(static key => ObjectKey.Of(key))]);
    }

    /// <summary>Selects these keys only, each of one <see cref="ObjectKey.Of{T}(T)"/> or of its overloads for several
    /// [VersionKey] parameters.</summary>
    public static ChangeKeys Of(params ObjectKey[] keys)
    {
        ArgumentNullException.ThrowIfNull(keys);
        return new Listed([.. keys]);
    }

    /// <summary>The keys that begin with these UTF-16 code units. Of several [VersionKey] parameters, the first one
    /// counts. Keys of another type than string are not among them.</summary>
    public static ChangeKeys Prefix(string prefix)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        return new Prefixed(prefix);
    }

    /// <param name="key">As it stands in the log; empty: the whole object.</param>
    internal bool Include(ReadOnlyMemory<byte> key) => key.IsEmpty || HasKey(key);

    private protected abstract bool HasKey(ReadOnlyMemory<byte> key);

    private sealed class Listed(HashSet<ObjectKey> keys) : ChangeKeys
    {
        private protected override bool HasKey(ReadOnlyMemory<byte> key) => keys.Contains(new ObjectKey(key.Span));
    }

    private sealed class Prefixed(string prefix) : ChangeKeys
    {
        private protected override bool HasKey(ReadOnlyMemory<byte> key) =>
            new MessagePackReader(key).NextMessagePackType == MessagePackType.String
            && CallArguments.ReadKey<string>(key, 0).StartsWith(prefix, StringComparison.Ordinal);
    }
}
