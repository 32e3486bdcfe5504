using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Transport;

/// <summary>Certificates of a folder: <c>ca.pem</c> has the anchors, <c>identity.pem</c> the key, the certificate and
/// its intermediates, so that a renewal is one rename. A new identity counts once it is whole, valid, and of the same
/// cluster and role; until then the one before stays, with a warning.</summary>
public sealed class CertificateFolder : ICertificateSource, IDisposable
{
    public const string AnchorsFile = "ca.pem";
    public const string IdentityFile = "identity.pem";

    /// <summary>Names a folder for processes that are given none.</summary>
    public const string Variable = "CORFU_CERTS";

    private readonly TlsOptions _options;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly ITimer _refresh;
    private volatile TlsCredentials _current;

    // Guarded by _gate: the contents that were judged last, whatever came of it.
    private (string Anchors, string Identity) _seen;
    private string? _fault;

    private CertificateFolder(string path, TlsOptions options, TimeProvider time, ILogger logger)
    {
        Path = path;
        _options = options;
        _time = time;
        _logger = logger;
        _seen = Read(path);
        _current = Judge(_seen, null);
        _refresh = time.CreateTimer(static folder => ((CertificateFolder)folder!).Reload(), this,
            options.RefreshInterval, options.RefreshInterval);
    }

    public event Action? Changed;

    public string Path { get; }

    public TlsCredentials Current => _current;

    /// <summary>Why the files as they are now do not count, and the ones before stay; null if they do.</summary>
    public string? Fault
    {
        get
        {
            lock (_gate) return _fault;
        }
    }

    /// <exception cref="CertificateException">A file is missing, readable by others, damaged or of no use.</exception>
    public static CertificateFolder Open(string path, TlsOptions? options = null, TimeProvider? time = null,
        ILogger? logger = null) =>
        new(path, options ?? new TlsOptions(), time ?? TimeProvider.System, logger ?? NullLogger.Instance);

    /// <summary>Looks at the files now.</summary>
    /// <returns>Whether the credentials are other ones than before.</returns>
    public bool Reload()
    {
        lock (_gate)
        {
            var isSame = false;
            try
            {
                // A fault may pass with time, such as a beginning that is still to come: it is judged each time.
                var files = Read(Path);
                isSame = files == _seen;
                if (isSame && _fault is null) return false;
                _seen = files;
                var renewed = Judge(files, _current);
                _fault = null;
                _current = renewed;
                TransportLog.Renewed(_logger, Path, renewed.Identity.ToString(), renewed.NotAfter);
                TransportTelemetry.Reloads.Add(1, TransportTelemetry.Taken);
            }
            catch (CertificateException e)
            {
                // The log has a line for each new fault. That of the same files may differ by the time that it names.
                if (_fault is null || (!isSame && _fault != e.Message))
                {
                    TransportLog.NotRenewed(_logger, Path, e.Message);
                    TransportTelemetry.Reloads.Add(1, TransportTelemetry.Refused);
                }

                _fault = e.Message;
                return false;
            }
        }

        Changed?.Invoke();
        return true;
    }

    public void Dispose() => _refresh.Dispose();

    private static (string Anchors, string Identity) Read(string folder)
    {
        var anchors = System.IO.Path.Combine(folder, AnchorsFile);
        var identity = System.IO.Path.Combine(folder, IdentityFile);
        try
        {
            if (!OperatingSystem.IsWindows())
            {
                var mode = File.GetUnixFileMode(identity);
                if ((mode & ~(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute)) != 0)
                {
                    throw new CertificateException($"The key in {identity} can be read or changed by other users; run "
                        + $"'chmod 600 {identity}'.");
                }
            }

            return (File.ReadAllText(anchors), File.ReadAllText(identity));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new CertificateException($"The certificates of {folder} cannot be read: {e.Message} The folder needs "
                + $"{AnchorsFile} and {IdentityFile}, as 'corfu cert issue --to {folder}' writes them.", e);
        }
    }

    private TlsCredentials Judge((string Anchors, string Identity) files, TlsCredentials? before)
    {
        try
        {
            var anchors = new X509Certificate2Collection();
            anchors.ImportFromPem(files.Anchors);
            if (anchors.Count == 0)
                throw new CertificateException($"{Path}/{AnchorsFile} has no certificate of an authority.");
            var sent = new X509Certificate2Collection();
            sent.ImportFromPem(files.Identity);
            var certificate = X509Certificate2.CreateFromPem(files.Identity, files.Identity);
            if (OperatingSystem.IsWindows())
            {
                // The system's TLS takes no key that lives in memory alone.
                certificate = X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), null);
            }

            sent.RemoveAt(0);
            var identity = PeerRules.IdentityOf(certificate, _options.Map, default, out var reason)
                ?? throw new CertificateException($"{Path}/{IdentityFile}: {reason}.");
            var credentials = new TlsCredentials(certificate, sent, anchors, identity);
            Check(credentials, sent, before);
            return credentials;
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw new CertificateException($"{Path}: a file is damaged, or the key is not the certificate's: "
                + $"{e.Message} Copy it again, or issue a new certificate.", e);
        }
    }

    private void Check(TlsCredentials credentials, X509Certificate2Collection sent, TlsCredentials? before)
    {
        var identity = credentials.Identity;
        if (before is not null
            && (identity.Cluster != before.Identity.Cluster || identity.Role != before.Identity.Role))
        {
            throw new CertificateException($"{Path}/{IdentityFile} is for {identity}, and this process runs as "
                + $"{before.Identity}: a renewal keeps cluster and role.");
        }

        var now = _time.GetUtcNow();
        var fault = PeerRules.FaultOfChain(credentials.Certificate, sent, credentials.Anchors, now)
            ?? PeerRules.FaultOfTime(credentials.Certificate, identity.Role, now, _options.ExpiredNodeGrace);
        if (fault is not null) throw new CertificateException($"{Path}/{IdentityFile}: {fault}.");
    }
}
