using System.Text;

namespace Corfu.Cli;

/// <summary>Standard output and error: texts that came over the network, or from a log that others write, cannot move
/// the cursor. Ends of lines pass, for some texts have several.</summary>
internal sealed class TerminalWriter(TextWriter inner) : TextWriter(inner.FormatProvider)
{
    public override Encoding Encoding => inner.Encoding;

    public override void Write(char value)
    {
        if (value is '\n' or '\r' || !Printable.IsHarmful(value)) inner.Write(value);
        else inner.Write(Printable.Of(value.ToString()));
    }

    public override void Write(char[] buffer, int index, int count) => Write(buffer.AsSpan(index, count));

    public override void Write(ReadOnlySpan<char> buffer)
    {
        var written = 0;
        for (var i = 0; i < buffer.Length; i++)
        {
            if (buffer[i] is '\n' or '\r' || !Printable.IsHarmful(buffer[i])) continue;
            inner.Write(buffer[written..i]);
            inner.Write(Printable.Of(buffer[i].ToString()));
            written = i + 1;
        }

        inner.Write(buffer[written..]);
    }

    public override void Write(string? value) => Write(value.AsSpan());

    public override void WriteLine(string? value)
    {
        Write(value);
        inner.WriteLine();
    }

    public override Task WriteAsync(char value)
    {
        Write(value);
        return Task.CompletedTask;
    }

    public override Task WriteAsync(string? value)
    {
        Write(value);
        return Task.CompletedTask;
    }

    public override Task WriteAsync(char[] buffer, int index, int count)
    {
        Write(buffer, index, count);
        return Task.CompletedTask;
    }

    public override Task WriteAsync(ReadOnlyMemory<char> buffer, CancellationToken cancellationToken = default)
    {
        Write(buffer.Span);
        return Task.CompletedTask;
    }

    public override Task WriteAsync(StringBuilder? value, CancellationToken cancellationToken = default)
    {
        foreach (var chunk in value?.GetChunks() ?? default) Write(chunk.Span);
        return Task.CompletedTask;
    }

    public override Task WriteLineAsync() => inner.WriteLineAsync();

    public override Task WriteLineAsync(string? value)
    {
        Write(value);
        return inner.WriteLineAsync();
    }

    public override void Flush() => inner.Flush();

    public override Task FlushAsync() => inner.FlushAsync();

    public override Task FlushAsync(CancellationToken cancellationToken) => inner.FlushAsync(cancellationToken);
}
