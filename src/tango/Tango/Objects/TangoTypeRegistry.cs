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

    /// <summary>False also if the type writes values by another serializer than the directory records.</summary>
    internal bool TryGet(string recorded, [NotNullWhen(true)] out TangoObjectType? type)
    {
        var isKnown = _types.TryGetValue(recorded, out type)
            || _types.TryGetValue(RecordedTypeName.Parse(recorded).Plain, out type);
        if (isKnown && type!.Is(recorded)) return true;
        type = null;
        return false;
    }

    /// <exception cref="TangoDirectoryException">The type is not known to this program, or writes values by another
    /// serializer.</exception>
    internal TangoObjectType Get(DirectoryEntry entry)
    {
        if (TryGet(entry.TypeName, out var type)) return type;
        if (_types.TryGetValue(RecordedTypeName.Parse(entry.TypeName).Plain, out type)) type.RequireIs(entry);
        throw TangoDirectoryException.UnknownType(entry);
    }
}
