using System.Text.RegularExpressions;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>The source tree that these tests were built from.</summary>
internal static partial class Repository
{
    private static readonly Lazy<HashSet<string>> s_types = new(() =>
    [
        .. Sources("src").SelectMany(file => Declaration().Matches(Read(file))).Select(match => match.Groups[1].Value),
    ]);

    public static string Root { get; } = FindRoot();

    /// <summary>Names of the types that src declares.</summary>
    public static IReadOnlySet<string> Types => s_types.Value;

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

    /// <param name="file">Relative to the root.</param>
    public static string Read(string file) => File.ReadAllText(Path.Combine(Root, file));

    private static string FindRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Corfu.slnx"))) return folder.FullName;
        }

        throw new InvalidOperationException("Corfu.slnx is in none of the folders above the tests.");
    }

    [GeneratedRegex(@"\b(?:class|struct|record|interface|enum) (?:struct )?(\w+)")]
    private static partial Regex Declaration();
}
