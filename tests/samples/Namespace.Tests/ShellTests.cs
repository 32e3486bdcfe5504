using NamespaceSample.Shell;

namespace NamespaceSample.Tests;

public sealed class ShellTests
{
    [Fact]
    public async Task Commands_from_a_pipe_change_and_show_the_namespace()
    {
        (int failed, string output) = await RunAsync(
            """
            mkdir /src
            create /src/a 5
            # a comment
            write /src/a 7
            attr /src/a owner the writer
            mv /src /docs
            ls /docs
            stat /docs/a
            tree
            rm -r /docs
            tree
            """);
        Assert.Equal(0, failed);
        string[] lines = output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(5, lines.Length);
        Assert.Matches("^-          7 r2    .* /docs/a$", lines[0]);
        Assert.Contains("/docs/a  id ", lines[1]);
        Assert.Equal(["  owner = the writer", "/docs/", "/docs/a"], lines[2..]);
    }

    [Fact]
    public async Task A_command_that_fails_is_told_and_the_next_one_runs()
    {
        (int failed, string output) = await RunAsync("ls /none\nfly\nwrite /a much\nmkdir relative\nmkdir /a\ntree\n");
        Assert.Equal(4, failed);
        string[] lines = output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal("error: /none: there is no such file or directory", lines[0]);
        Assert.Equal("error: 'fly' is no command; 'help' lists them", lines[1]);
        Assert.All(lines[..4], line => Assert.StartsWith("error: ", line));
        Assert.Equal(["/a/"], lines[4..]);
    }

    private static async Task<(int Failed, string Output)> RunAsync(string input)
    {
        await using var logs = new Logs();
        await logs.HostAsync();
        var output = new StringWriter { NewLine = "\n" };
        var shell = new NamespaceShell(
            await logs.OpenAsync(), new StringReader(input), output, prompts: false, TimeProvider.System);
        return (await shell.RunAsync(default), output.ToString());
    }
}
