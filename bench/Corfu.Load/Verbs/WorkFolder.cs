namespace Corfu.Load;

/// <summary>The folder of a run: the one that was named, or a temporary one that goes with the run.</summary>
internal sealed class WorkFolder : IDisposable
{
    private readonly bool _temporary;

    public WorkFolder(DirectoryInfo? named)
    {
        _temporary = named is null;
        Path = (named ?? Directory.CreateTempSubdirectory("corfu-load-")).FullName;
        Directory.CreateDirectory(Path);
    }

    public string Path { get; }

    public void Dispose()
    {
        if (_temporary) Directory.Delete(Path, recursive: true);
    }
}
