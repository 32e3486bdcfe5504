namespace Corfu.Load;

internal static class ClusterWorkloads
{
    public static Task<IWorkload> OpenAsync(WorkloadKind kind, string target) => throw new FormatException($"{kind} {target}");
}
