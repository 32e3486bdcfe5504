using Corfu.Integration.Tests.Architecture;

namespace Corfu.Integration.Tests.Support;

/// <summary>tests/hosts/Corfu.ConsoleClient: a program of a user's, in a process of its own.</summary>
internal static class ConsoleClient
{
    public static string Program { get; } = Path.Combine(
        Repository.FolderOf("tests", "Corfu.ConsoleClient"),
        Path.GetRelativePath(Repository.FolderOf("tests", "Corfu.Integration.Tests"), AppContext.BaseDirectory),
        "Corfu.ConsoleClient.dll");

    public static Task<ToolResult> RunAsync(params string[] arguments) =>
        CorfuTool.RunProgramAsync(Program, arguments);
}
