using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Runtime.InteropServices;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging.Abstractions;
using Salus;
using Salus.Nbd;
using Salus.NbdHost;

// PORT [tls=FOLDER] NAME=BYTES[,block=N][,ro][,ordered][,delay=MS]...: serves volumes in memory until SIGTERM. A
// read-only one shows the blocks of the volume before it. With TLS, clients need a certificate of the folder's
// authority.
if (args.Length < 2 || !int.TryParse(args[0], CultureInfo.InvariantCulture, out var port))
{
    Console.Error.WriteLine("usage: Salus.NbdHost PORT [tls=FOLDER] NAME=BYTES[,block=N][,ro][,ordered][,delay=MS]...");
    return 2;
}

var exports = new List<NbdExport>();
MemoryVolume? before = null;
var folder = args[1].StartsWith("tls=") ? args[1]["tls=".Length..] : null;
foreach (var arg in args[(folder is null ? 1 : 2)..])
{
    var parts = arg.Split(',');
    var (name, size) = (parts[0].Split('=')[0], long.Parse(parts[0].Split('=')[1], CultureInfo.InvariantCulture));
    int Number(string option, int standard) => parts.FirstOrDefault(part => part.StartsWith(option + "="))
        is { } found ? int.Parse(found.Split('=')[1], CultureInfo.InvariantCulture) : standard;
    if (parts.Contains("ro"))
    {
        IVolume shown = new SharedVolume(before!, isReadOnly: true);
        exports.Add(new NbdExport(name, new MemorySource(
            shown.Size, shown.BlockSize, isReadOnly: true, _ => Task.FromResult(shown)), "a view for reading"));
        continue;
    }

    var volume = before = new MemoryVolume(size, Number("block", 4096))
    {
        AcknowledgesInOrder = parts.Contains("ordered"),
    };
    if (Number("delay", 0) is > 0 and var delay) volume.Hold = _ => Task.Delay(delay);
    exports.Add(new NbdExport(name, new MemorySource(volume.Size, volume.BlockSize, isReadOnly: false,
        _ => Task.FromResult<IVolume>(new SharedVolume(volume))), "in memory"));
}

await using var server = await NbdServer.StartAsync(new IPEndPoint(IPAddress.Loopback, port), exports,
    NullLoggerFactory.Instance, tls: folder is null ? null : TlsOf(folder));
var stop = new TaskCompletionSource();
using var term = PosixSignalRegistration.Create(PosixSignal.SIGTERM, context =>
{
    context.Cancel = true;
    stop.TrySetResult();
});
Console.WriteLine($"nbd://{server.EndPoint}");
await stop.Task;
return 0;

static Func<SslServerAuthenticationOptions> TlsOf(string folder)
{
    string Named(string file) => Path.Combine(folder, file);
    var certificate = X509Certificate2.CreateFromPemFile(Named("server-cert.pem"), Named("server-key.pem"));
    var policy = new X509ChainPolicy
    {
        TrustMode = X509ChainTrustMode.CustomRootTrust,
        RevocationMode = X509RevocationMode.NoCheck,
    };
    policy.CustomTrustStore.ImportFromPemFile(Named("ca-cert.pem"));
    return () => new SslServerAuthenticationOptions
    {
        ServerCertificate = certificate,
        ClientCertificateRequired = true,
        CertificateChainPolicy = policy,
    };
}
