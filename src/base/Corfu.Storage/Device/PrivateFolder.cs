namespace Corfu.Storage;

/// <summary>Folders that hold data of a log.</summary>
public static class PrivateFolder
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    /// <summary>Makes what is missing of the path, open to its user alone. A folder that is there keeps its mode: its
    /// maker has decided.</summary>
    public static void Create(string path)
    {
        if (OperatingSystem.IsWindows()) Directory.CreateDirectory(path);
        else Directory.CreateDirectory(path, OwnerOnly);
    }
}
