using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc.Tests.Access;

/// <summary>The access file on disk, as it changes.</summary>
public sealed class AccessFileTests : IDisposable
{
    private const string Good = """{ "callers": { "billing": { "read": ["log"] } } }""";

    private static readonly Principal s_billing = new(AccessRole.Caller, "billing");

    private readonly string _path =
        Path.Combine(Directory.CreateTempSubdirectory("corfu-access-").FullName, "access.json");

    private readonly List<string> _lines = [];

    [Fact]
    public void Changed_file_is_read_again()
    {
        File.WriteAllText(_path, Good);
        using var file = Open();
        Assert.True(MayRead(file));
        File.WriteAllText(_path, """{ "callers": {} }""");
        Assert.True(MayRead(file));
        file.Reload();
        Assert.False(MayRead(file));
        Assert.All(_lines, line => Assert.StartsWith("Information", line, StringComparison.Ordinal));
    }

    [Fact]
    public void Bad_file_keeps_the_earlier_rights_and_warns_once()
    {
        File.WriteAllText(_path, Good);
        using var file = Open();
        foreach (var bad in (string[])["{ \"callers\": {", """{ "callers": { "billing": { "read": ["x"] } } }"""])
        {
            _lines.Clear();
            File.WriteAllText(_path, bad);
            file.Reload();
            file.Reload();
            Assert.True(MayRead(file));
            var line = Assert.Single(_lines);
            Assert.StartsWith("Warning", line, StringComparison.Ordinal);
            Assert.Contains("stay in force", line, StringComparison.Ordinal);
        }

        _lines.Clear();
        File.Delete(_path);
        file.Reload();
        file.Reload();
        Assert.True(MayRead(file));
        Assert.Single(_lines);
        // The same content counts again after a fault.
        File.WriteAllText(_path, """{ "callers": {} }""");
        file.Reload();
        Assert.False(MayRead(file));
    }

    [Fact]
    public void Missing_file_grants_no_right_until_mended()
    {
        using var file = Open();
        Assert.False(MayRead(file));
        Assert.Contains("no rights", Assert.Single(_lines), StringComparison.Ordinal);
        File.WriteAllText(_path, Good);
        file.Reload();
        Assert.True(MayRead(file));
    }

    [Fact]
    public void File_without_an_end_is_refused()
    {
        File.WriteAllBytes(_path, new byte[AccessRules.MaxBytes + 1]);
        using var file = Open();
        Assert.Contains("are possible", Assert.Single(_lines), StringComparison.Ordinal);
    }

    public void Dispose() => Directory.Delete(Path.GetDirectoryName(_path)!, recursive: true);

    private static bool MayRead(AccessFile file) =>
        file.Current.Allows(s_billing, AccessRight.Read, CorfuResource.Log);

    private AccessFile Open() => new(
        Options.Create(new CorfuGrpcOptions { AccessFile = _path }), TimeProvider.System, new Lines(_lines));

    private sealed class Lines(List<string> lines) : ILogger<AccessFile>
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter) => lines.Add($"{logLevel}: {formatter(state, exception)}");
    }
}
