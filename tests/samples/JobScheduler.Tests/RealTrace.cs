using JobScheduler.Workloads;

namespace JobScheduler.Tests;

/// <summary>The real trace lies beside the repository on the machines that test against it; elsewhere its tests are
/// skipped.</summary>
internal static class RealTrace
{
    public static Workload Read() => SwfReader.Read(Path(), 1);

    public static string Path()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            string path = System.IO.Path.Combine(folder.FullName, "shared", "data", "nasa-ipsc-1993.swf.gz");
            if (File.Exists(path))
                return path;
        }

        Assert.Skip("needs shared/data/nasa-ipsc-1993.swf.gz in a parent folder");
        return "";
    }
}
