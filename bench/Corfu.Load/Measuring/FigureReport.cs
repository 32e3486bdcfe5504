namespace Corfu.Load;

/// <summary>A run of sections, as a page for <c>bench/results</c> and a last line of figures.</summary>
/// <param name="Name">The command's.</param>
/// <param name="Arguments">As they were given to it.</param>
internal sealed record FigureReport(
    RunInfo Run, string Name, string Arguments, int Rounds, IReadOnlyList<FigureSection> Sections)
{
    public string Summary => $"{Name} " + string.Join(' ', Sections.SelectMany(section => section.Summary)
        .Select(pair => $"{pair.Key}={pair.Value}")
        .Append($"problems={Sections.Sum(section => section.Problems.Count)}"));

    public string ToMarkdown() =>
        $"{Run.Machine}. Commit {Run.Commit}, {Run.Runtime}. `Corfu.Load {Name} {Arguments}`: medians of {Rounds} "
        + $"rounds.\n\n{string.Join('\n', Sections.Select(section => section.ToMarkdown()))}\n```\n{Summary}\n```\n";

    /// <summary>Prints the page, then the summary as the last line.</summary>
    /// <param name="file">Gets the page too.</param>
    /// <returns>The exit code.</returns>
    public async Task<int> WriteAsync(FileInfo? file, CancellationToken cancellationToken)
    {
        var page = ToMarkdown();
        Console.WriteLine();
        Console.WriteLine(page);
        if (file is not null) await File.WriteAllTextAsync(file.FullName, page, cancellationToken);
        foreach (var problem in Sections.SelectMany(section => section.Problems))
            await Console.Error.WriteLineAsync($"not valid: {problem}");
        Console.WriteLine(Summary);
        return Sections.Any(section => section.Problems.Count > 0) ? 1 : 0;
    }
}
