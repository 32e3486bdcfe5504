using System.Globalization;
using NamespaceSample.Model;
using Tango.Collections;

namespace NamespaceSample.Import;

/// <summary>Reads a directory of this machine as changes that make a namespace of it: each directory before what is in
/// it. Repositories' and compilers' folders are left out, and links are not followed.</summary>
public static class DirectoryReader
{
    private static readonly HashSet<string> s_leftOut = new(StringComparer.Ordinal) { ".git", "bin", "obj" };

    /// <param name="limit">At most so many files and directories.</param>
    /// <exception cref="DirectoryNotFoundException">There is no such directory.</exception>
    public static IReadOnlyList<NamespaceChange> Read(string directory, int limit)
    {
        var root = new DirectoryInfo(directory);
        if (!root.Exists) throw new DirectoryNotFoundException($"{directory} is not a directory");
        var changes = new List<NamespaceChange>();
        var rest = new Queue<(DirectoryInfo Directory, string Path)>([(root, TreePath.Root)]);
        while (changes.Count < limit && rest.TryDequeue(out var next))
        {
            foreach (FileSystemInfo info in Entries(next.Directory).Take(limit - changes.Count))
            {
                string path = TreePath.Combine(next.Path, info.Name);
                string id = $"import-{changes.Count.ToString(CultureInfo.InvariantCulture)}";
                long time = new DateTimeOffset(info.LastWriteTimeUtc).ToUnixTimeSeconds();
                if (info is DirectoryInfo below)
                {
                    changes.Add(new NamespaceChange.MakeDirectory(path, id, time));
                    rest.Enqueue((below, path));
                }
                else
                {
                    changes.Add(new NamespaceChange.CreateFile(path, id, ((FileInfo)info).Length, time));
                }
            }
        }

        return changes;
    }

    private static IEnumerable<FileSystemInfo> Entries(DirectoryInfo directory)
    {
        try
        {
            return directory.GetFileSystemInfos()
                .Where(static info => info.LinkTarget is null && !s_leftOut.Contains(info.Name))
                .OrderBy(static info => info.Name, StringComparer.Ordinal);
        }
        catch (Exception e) when (e is UnauthorizedAccessException or DirectoryNotFoundException)
        {
            // Not for this user, or gone meanwhile.
            return [];
        }
    }
}
