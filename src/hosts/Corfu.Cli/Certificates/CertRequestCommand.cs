namespace Corfu.Cli;

/// <summary><c>corfu cert request</c>.</summary>
internal static class CertRequestCommand
{
    private const string Description =
        """
        Make a key that never leaves this host, and a request for its certificate. Take request.pem to the authority:
        'corfu cert issue --request' answers it. Then join key and certificate with --answer. An identity that the
        folder holds serves until then.
        """;

    public static Command Create()
    {
        var directory = CommonOptions.FolderOption("--dir", "The folder of the identity.");
        var answer = new Option<FileSystemInfo>("--answer")
        {
            Description = "What 'corfu cert issue --request' wrote: its folder, or the certificate's file.",
            HelpName = "DIR|FILE",
            CustomParser = result => new FileInfo(result.Tokens[0].Value),
        };
        var command = new Command("request", Description) { directory, answer };
        command.SetAction(async (result, _) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var output = result.InvocationConfiguration.Output;
            if (result.GetValue(answer) is { } path)
            {
                using var taken = CertificateFiles.TakeAnswer(folder, path.FullName);
                await output.WriteLineAsync($"{CertificateIdentity.Of(taken, out var _)}");
                await output.WriteLineAsync(
                    $"serial {taken.SerialNumber}, valid until {CertCommand.Moment(taken.NotAfter)}");
                return ExitCode.Ok;
            }

            var request = CertificateFiles.MakeRequest(folder);
            await output.WriteLineAsync(request);
            await output.WriteLineAsync(
                $"corfu cert issue --ca CA --request {CertificateFiles.RequestName} --role ROLE --name NAME --to "
                + "ANSWER");
            await output.WriteLineAsync($"corfu cert request --dir {folder} --answer ANSWER");
            return ExitCode.Ok;
        });
        return command;
    }
}
