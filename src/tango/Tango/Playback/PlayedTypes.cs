namespace Tango.Playback;

/// <summary>The types as which a runtime plays objects.</summary>
/// <param name="directory">The directory's own.</param>
internal sealed class PlayedTypes(TangoTypeRegistry known, TangoObjectType directory)
{
    public TangoObjectType Directory => directory;

    /// <summary>Null: this program does not know the type, so that the object has versions and no view.</summary>
    public TangoObjectType? Find(DirectoryEntry entry)
    {
        if (entry.Id == ObjectId.Directory) return directory;
        return known.TryGet(entry.TypeName, out var type) && type.HasFormatters ? type : null;
    }
}
