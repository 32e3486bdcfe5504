namespace JobScheduler.Workloads;

/// <summary>A trace that cannot be used, with the place of the fault. <see cref="Line"/> is 1-based, 0 when the fault
/// is the whole file's.</summary>
public sealed class TraceFormatException : Exception
{
    public TraceFormatException(string file, int line, string? field, string problem, Exception? inner = null)
        : base(Describe(file, line, field, problem), inner)
    {
        File = file;
        Line = line;
        Field = field;
    }

    public string File { get; }

    public int Line { get; }

    /// <summary>Number and name of the field as the Standard Workload Format counts them, for example "field 4 (run
    /// time)".</summary>
    public string? Field { get; }

    private static string Describe(string file, int line, string? field, string problem) => (line, field) switch
    {
        (0, _) => $"{file}: {problem}",
        (_, null) => $"{file}, line {line}: {problem}",
        _ => $"{file}, line {line}, {field}: {problem}",
    };
}
