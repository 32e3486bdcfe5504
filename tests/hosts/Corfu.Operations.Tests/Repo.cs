namespace Corfu.Operations.Tests;

/// <summary>Files of the repository that describe what the code does.</summary>
internal static class Repo
{
    public static string Root { get; } = Find();

    public static string Read(string path) => File.ReadAllText(Path.Combine(Root, path));

    private static string Find()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Corfu.slnx"))) return folder.FullName;
        }

        throw new DirectoryNotFoundException("The tests do not run inside the repository.");
    }
}
