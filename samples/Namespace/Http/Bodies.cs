using System.Collections.Immutable;
using NamespaceSample.Model;
using NamespaceSample.Service;

namespace NamespaceSample.Http;

/// <summary>A file or directory.</summary>
/// <param name="Kind">Null: it is gone.</param>
/// <param name="Modified">Unix time in seconds.</param>
internal sealed record EntryBody(
    string Path, EntryKind? Kind, string? Id, long Size, long Revision, long Modified,
    ImmutableSortedDictionary<string, string>? Attributes)
{
    public static EntryBody Of(EntryStatus status) =>
        Of(status.Path, status.Entry) with { Attributes = status.Attributes };

    public static EntryBody Of(string path, Entry? entry) => new(
        path, entry?.Kind, entry?.Id, entry?.Size ?? 0, entry?.Revision ?? 0, entry?.Modified ?? 0, null);
}

internal sealed record NewEntryBody(EntryKind Kind, long Size = 0);

internal sealed record WriteBody(long Size);

/// <param name="Value">Null: it is removed.</param>
internal sealed record AttributeBody(string Name, string? Value);

internal sealed record RenameBody(string From, string To);
