using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Tango;

/// <summary>Object types by the name the directory knows them under. Safe for concurrent use.</summary>
public sealed class TangoTypeRegistry
{
    private readonly ConcurrentDictionary<string, TangoObjectType> _types = new(StringComparer.Ordinal);

    public TangoTypeRegistry Add<T>()
        where T : TangoObject, ITangoObject<T>
    {
        _types.TryAdd(T.ObjectType.Name, T.ObjectType);
        return this;
    }

    internal bool TryGet(string name, [NotNullWhen(true)] out TangoObjectType? type) =>
        _types.TryGetValue(name, out type);
}
