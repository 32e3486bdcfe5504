using System.Diagnostics;
using System.Globalization;

namespace SharedSample.Tests;

/// <summary>A sample as a process.</summary>
internal static class SampleProgram
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(3);

    /// <param name="assembly">Beside the tests.</param>
    public static async Task<(int Code, string Output, string Errors)> RunAsync(
        string assembly, params string[] arguments)
    {
        using Process process = Start(assembly, arguments);
        try
        {
            Task<string> output = process.StandardOutput.ReadToEndAsync();
            Task<string> errors = process.StandardError.ReadToEndAsync();
            await process.WaitForExitAsync().WaitAsync(s_patience);
            return (process.ExitCode, await output, await errors);
        }
        finally
        {
            if (!process.HasExited) process.Kill(entireProcessTree: true);
        }
    }

    /// <summary>SIGKILL to a sample, and not to its children, once it has printed a text.</summary>
    /// <param name="children">Processes below the sample, at least.</param>
    /// <returns>Ids of the children that do not end.</returns>
    public static async Task<IReadOnlyCollection<int>> KillAsync(
        string assembly, string text, int children, params string[] arguments)
    {
        using Process process = Start(assembly, arguments);
        HashSet<int> below = [];
        try
        {
            using var late = new CancellationTokenSource(s_patience);
            string? line;
            while ((line = await process.StandardOutput.ReadLineAsync(late.Token)) is not null
                && !line.Contains(text, StringComparison.Ordinal))
            {
            }

            Assert.NotNull(line);
            below = Below(process.Id);
            Assert.InRange(below.Count, children, int.MaxValue);
            process.Kill();
            while (below.RemoveWhere(static id => ParentOf(id) is null) >= 0 && below.Count > 0
                && !late.IsCancellationRequested)
                await Task.Delay(100);
            return below;
        }
        finally
        {
            if (!process.HasExited) process.Kill(entireProcessTree: true);
            foreach (int id in below.Where(static id => ParentOf(id) is not null))
            {
                using var survivor = Process.GetProcessById(id);
                survivor.Kill();
            }
        }
    }

    private static Process Start(string assembly, string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet")
        {
            ArgumentList = { Path.Combine(AppContext.BaseDirectory, assembly) },
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        return Process.Start(start)!;
    }

    private static HashSet<int> Below(int root)
    {
        var parents = new Dictionary<int, int>();
        foreach (string folder in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(folder), CultureInfo.InvariantCulture, out int id)
                && ParentOf(id) is { } parent)
                parents[id] = parent;
        }

        HashSet<int> below = [];
        int before;
        do
        {
            before = below.Count;
            below.UnionWith(parents.Where(pair => pair.Value == root || below.Contains(pair.Value))
                .Select(static pair => pair.Key).ToList());
        }
        while (below.Count > before);
        return below;
    }

    /// <returns>Null: the process has ended, also if its parent has not heard of that.</returns>
    private static int? ParentOf(int id)
    {
        try
        {
            // The state and the parent follow the program's name, which may have blanks and parentheses.
            string stat = File.ReadAllText($"/proc/{id}/stat");
            string[] words = stat[(stat.LastIndexOf(')') + 2)..].Split(' ', 3);
            return words[0] == "Z" ? null : int.Parse(words[1], CultureInfo.InvariantCulture);
        }
        catch (IOException)
        {
            return null;
        }
    }
}
