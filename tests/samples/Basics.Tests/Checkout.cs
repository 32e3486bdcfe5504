namespace Basics.Tests;

/// <summary>The source tree that these tests were built from.</summary>
internal static class Checkout
{
    private static readonly string s_root = FindRoot();

    public static string Read(string file) => File.ReadAllText(Path.Combine(s_root, file)).ReplaceLineEndings("\n");

    public static IEnumerable<string> Folders(string folder) =>
        Directory.EnumerateDirectories(Path.Combine(s_root, folder)).Select(path => Path.GetFileName(path)!).Order();

    private static string FindRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Corfu.slnx"))) return folder.FullName;
        }

        throw new InvalidOperationException("Corfu.slnx is in none of the folders above the tests.");
    }
}
