using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Operations.Tests;

/// <summary>Figures of certificates and of the audit move when what they count happens.</summary>
public sealed class SecurityFigureTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("corfu-figures-");
    private readonly MeterListener _listener = new();
    private readonly ConcurrentQueue<string> _counted = new();

    public SecurityFigureTests()
    {
        _listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Meter.Name.StartsWith("Corfu.", StringComparison.Ordinal))
                listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>((instrument, _, tags, _) =>
            _counted.Enqueue($"{instrument.Name} {string.Join(' ', tags.ToArray().Select(tag => tag.Value))}".Trim()));
        _listener.Start();
    }

    public void Dispose()
    {
        _listener.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void Reload_counts_files_that_are_taken_and_files_that_are_refused()
    {
        using var authority = CertificateAuthority.Create(
            Path.Combine(_folder.FullName, "ca"), new ClusterId(Guid.NewGuid()));
        var node = Path.Combine(_folder.FullName, "node");
        authority.IssueTo(node, new CertificateOrder(AccessRole.Node, "n") { Hosts = ["127.0.0.1"] }).Dispose();
        using var opened = CertificateFolder.Open(node);
        authority.Renew(node).Dispose();
        Assert.True(opened.Reload());
        Assert.Contains("corfu.transport.tls.reload taken", _counted);
        File.WriteAllText(Path.Combine(node, CertificateFolder.IdentityFile), "nothing");
        Assert.False(opened.Reload());
        Assert.Contains("corfu.transport.tls.reload refused", _counted);
    }

    [Fact]
    public async Task Audit_counts_entries_that_cannot_be_written()
    {
        var missing = Path.Combine(_folder.FullName, "missing");
        await using (var audit = new AuditLog(missing, "n", TimeProvider.System, NullLogger.Instance))
            audit.Add("Start", null, "here");
        Assert.Contains("corfu.hosting.audit.failed", _counted);
    }
}
