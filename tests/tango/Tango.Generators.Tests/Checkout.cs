namespace Tango.Generators.Tests;

/// <summary>Files of the repository that tests hold against the code.</summary>
internal static class Checkout
{
    public static string Root { get; } = FindRoot();

    public static string Read(string path) => File.ReadAllText(Path.Combine(Root, path)).Replace("\r\n", "\n");

    private static string FindRoot()
    {
        string? root = AppContext.BaseDirectory;
        while (root is not null && !File.Exists(Path.Combine(root, "Corfu.slnx"))) root = Path.GetDirectoryName(root);
        Assert.NotNull(root);
        return root;
    }
}
