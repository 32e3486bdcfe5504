using System.IO.Pipelines;
using Salus.Nbd.Exports;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>The next step behind an option.</summary>
internal enum OptionOutcome
{
    NextOption,
    StartTls,
    Transmit,
    Close,
}

/// <summary>The choices of a connection so far.</summary>
internal sealed class HandshakeState(ExportTable exports, IDuplexPipe transport)
{
    public ExportTable Exports => exports;

    public HandshakeFlags ClientFlags { get; set; }

    public IDuplexPipe Transport { get; private set; } = transport;

    public PipeWriter Output => Transport.Output;

    public bool IsEncrypted { get; private set; }

    public bool IsStructured { get; set; }

    /// <summary>The export that base:allocation was chosen for last.</summary>
    public ExportMount? Allocation { get; set; }

    /// <summary>The export of the transmission, entered.</summary>
    public ExportMount? Chosen { get; private set; }

    public MountedVolume? Mounted { get; private set; }

    public TransmissionFlags FlagsOf(ExportMount mount) =>
        Transmission.ExportView.FlagsOf(mount.Export.Source.IsReadOnly, IsStructured);

    public async ValueTask ChooseAsync(ExportMount mount, CancellationToken cancellationToken)
    {
        Mounted = await mount.EnterAsync(cancellationToken).ConfigureAwait(false);
        Chosen = mount;
    }

    /// <summary>All that was negotiated in the clear is forgotten.</summary>
    public void Encrypt(IDuplexPipe encrypted)
    {
        (Transport, IsEncrypted, IsStructured, Allocation) = (encrypted, true, false, null);
    }
}
