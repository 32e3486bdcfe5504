namespace Corfu.Integration.Tests.Architecture;

/// <summary>The source tree that these tests were built from.</summary>
internal static class Repository
{
    public static string Root { get; } = FindRoot();

    public static string Projects(string folder) => Path.Combine(Root, folder);

    /// <summary>The folder of a project, on whichever floor of <paramref name="root"/> it stands.</summary>
    public static string FolderOf(string root, string project) =>
        Directory.EnumerateDirectories(Projects(root)).Prepend(Projects(root))
            .Select(floor => Path.Combine(floor, project))
            .FirstOrDefault(Directory.Exists, Path.Combine(Projects(root), project));

    /// <summary>All C# sources but build output, as paths relative to the root.</summary>
    public static IEnumerable<string> Sources(params string[] folders) =>
        from folder in folders
        from file in Directory.EnumerateFiles(Path.Combine(Root, folder), "*.cs", SearchOption.AllDirectories)
        let relative = Path.GetRelativePath(Root, file)
        where !relative.Split(Path.DirectorySeparatorChar).Any(part => part is "bin" or "obj" or "artifacts")
        orderby relative
        select relative;

    private static string FindRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Corfu.slnx"))) return folder.FullName;
        }

        throw new InvalidOperationException("Corfu.slnx is in none of the folders above the tests.");
    }
}
